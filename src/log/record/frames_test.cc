#include "log/record/frames.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::record;

namespace {

constexpr uint64_t kNoLimit = kMaxPayload;

std::string some_frames(std::mt19937& random, size_t count, size_t longest) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += testing::record(std::string(random() % longest, static_cast<char>(random())));
  return out;
}

}  // namespace

TEST_CASE("Frames: the kernel for new processors and the plain loop see the same") {
  std::mt19937 random(7);
  std::vector<Frame> fast, plain;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = some_frames(random, random() % 20, round % 2 ? 100 : 5000);
    if (random() % 2 && !bytes.empty()) bytes[random() % bytes.size()] ^= 1 << (random() % 8);
    if (random() % 2) bytes.resize(bytes.size() - std::min<size_t>(bytes.size(), random() % 40));
    const uint64_t large = random() % 2 ? kNoLimit : 64;
    const size_t capacity = random() % 2 ? 1000 : 3;
    const Walk a = walk_frames(as_bytes(bytes), 0, large, capacity, fast);
    const Walk b = walk_frames_plain(as_bytes(bytes), 0, large, capacity, plain);
    REQUIRE(a.stop == b.stop);
    REQUIRE(a.end == b.end);
    REQUIRE(fast.size() == plain.size());
    for (size_t i = 0; i < fast.size(); ++i) {
      REQUIRE(fast[i].at == plain[i].at);
      REQUIRE(fast[i].length == plain[i].length);
    }
  }
}

TEST_CASE("Frames: the real writers' records") {
  // Recorded from TensorBoard's writer: formats.md, test vectors.
  const std::string bytes = testing::version_record(1000);
  CHECK(bytes.size() == 40);
  CHECK(static_cast<uint8_t>(bytes[8]) == 0xa3);
  CHECK(static_cast<uint8_t>(bytes[36]) == 0x73);
}

TEST_CASE("Frames: a header is found again behind foreign bytes") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::string bytes(random() % 3000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const size_t at = bytes.size();
    bytes += testing::record("payload");
    CHECK(find_header(as_bytes(bytes), 0, kMaxPayload) == at);
    CHECK(header_at(as_bytes(bytes), at) == 7);
  }
}

TEST_CASE("Frames: a length of 2^60 is large, not an allocation") {
  std::string bytes(16, '\0');
  const uint64_t length = uint64_t{1} << 60;
  std::memcpy(bytes.data(), &length, 8);
  const uint32_t crc = masked_crc32c(as_bytes(bytes).first(8));
  std::memcpy(bytes.data() + 8, &crc, 4);
  std::vector<Frame> frames;
  CHECK(walk_frames(as_bytes(bytes), 0, 1000, 10, frames).stop == Stop::kLarge);
  CHECK(walk_frames(as_bytes(bytes), 0, UINT64_MAX, 10, frames).stop == Stop::kNeedMore);
  CHECK(!find_header(as_bytes(bytes), 0, kMaxPayload));
}
