#include "sonde/writer.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "codec/wire.h"
#include "log/write/frame.h"
#include "log/write/histogram.h"
#include "log/write/scalar_record.h"
#include "log/write/values.h"
#include "log/write/wall_clock.h"
#include "sonde/sonde.h"

namespace sonde::writer {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "sonde_writer_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string str() const { return path.string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().filename().string().find("tfevents") != std::string::npos)
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
};

// Payloads of a file; every frame must be whole and its checksums right.
std::vector<std::string> records(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string bytes = all.str();
  std::vector<std::string> out;
  for (size_t at = 0; at < bytes.size();) {
    REQUIRE(bytes.size() - at >= kFrameHead);
    const auto length = load<uint64_t>(as_bytes(bytes), at);
    REQUIRE(bytes.size() - at >= kFrameHead + length + kFrameTail);
    CHECK(load<uint32_t>(as_bytes(bytes), at + 8) == length_crc(length));
    const std::string payload = bytes.substr(at + kFrameHead, length);
    CHECK(load<uint32_t>(as_bytes(bytes), at + kFrameHead + length) ==
          masked_crc32c(as_bytes(payload)));
    out.push_back(payload);
    at += kFrameHead + length + kFrameTail;
  }
  return out;
}

size_t records_below(const Folder& folder) {
  size_t count = 0;
  for (const auto& file : folder.files()) count += records(file).size() - 1;  // without the header
  return count;
}

std::string hex(std::string_view bytes) {
  std::string out;
  char two[3];
  for (const char c : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    out += two;
  }
  return out;
}

}  // namespace

TEST_CASE("writer: a scalar record is the bytes torch writes") {
  const auto payload = [](std::string_view tag, int64_t step, double value) {
    const ScalarRecord record(tag, step, value);
    std::string out(record.size(), '\0');
    record.write(out.data(), 1001);
    return hex(out);
  };
  CHECK(payload("t", 7, 0.5) == "090000000000488f4010072a0a0a080a0174150000003f");
  CHECK(payload("a/b", 0, 1.5) == "090000000000488f402a0c0a0a0a03612f62150000c03f");
  CHECK(payload("t", -1, 1.5).substr(18, 22) == "10ffffffffffffffffff01");
  CHECK(payload(std::string(300, 'x'), 1, 1).size() / 2 == 9 + 2 + 3 + 3 + 3 + 300 + 5);
  // 0.1 is no float: the rounded value for TensorBoard, the exact one beside it.
  CHECK(payload("t", 7, 0.1) ==
        "090000000000488f4010072a14"
        "0a12"
        "0a0174"
        "15cdcccc3d"
        "c13e9a9999999999b93f");
}

TEST_CASE("writer: equal buckets are those of tf.summary.histogram") {
  struct Case {
    std::vector<double> data;
    int k;
    std::vector<double> rows;
  };
  const Case cases[] = {
      {{0, 1, 2, 3, 4}, 5, {0, .8, 1, .8, 1.6, 1, 1.6, 2.4, 1, 2.4, 3.2, 1, 3.2, 4, 1}},
      {{2, 2, 2}, 3, {2, 2, 0, 2, 2, 0, 2, 2, 3}},
      {{}, 2, {0, 0, 0, 0, 0, 0}},
      {{0, 10}, 4, {0, 2.5, 1, 2.5, 5, 0, 5, 7.5, 0, 7.5, 10, 1}},
      {{1, NAN, 2, INFINITY, -INFINITY, NAN}, 1, {1, 2, 2}},
      {{1, 2}, -3, {}},
  };
  for (const Case& c : cases) {
    const EqualBuckets made = equal_buckets(array(c.data), c.k);
    REQUIRE(made.rows.size() == c.rows.size());
    for (size_t i = 0; i < c.rows.size(); ++i) CHECK(made.rows[i] == doctest::Approx(c.rows[i]));
  }
  const EqualBuckets odd = equal_buckets(array(cases[4].data), 1);
  CHECK(odd.nan == 2);
  CHECK(odd.positive_infinite == 1);
  CHECK(odd.negative_infinite == 1);
}

TEST_CASE("writer: growing buckets equal a search over the same edges") {
  std::vector<float> data{0, -0.0f, 1, -1, 1e-13f, -1e-13f, 1e19f, 3e20f, -3e20f, NAN, INFINITY};
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    data.push_back(std::bit_cast<float>(state));
  }
  std::vector<double> wide(data.begin(), data.end());
  for (const double edge : growing_edges()) wide.push_back(edge);
  const std::vector<double> copy = growing_edges();  // other memory: takes the general path
  for (const Array& values : {array(data), array(wide)}) {
    const auto fast = edge_buckets(values, growing_edges());
    const auto plain = edge_buckets(values, copy);
    REQUIRE(fast);
    REQUIRE(plain);
    CHECK(fast->limits == plain->limits);
    CHECK(fast->counts == plain->counts);
    CHECK(std::isnan(fast->min));
  }
  const std::vector<double> few{-1, 0, 0, 0.5, 2};
  CHECK(edge_buckets(array(few), growing_edges())->counts.size() == 591);
  CHECK_FALSE(edge_buckets(array(std::vector<double>{1e30}), growing_edges()));
}

TEST_CASE("writer: what was logged before flush() is in the file") {
  Folder folder;
  Writer log(folder.str());
  CHECK(folder.files().size() == 1);
  for (int i = 0; i < 1000; ++i) CHECK(log.scalar("loss", i, i));
  CHECK(log.flush());
  CHECK(records(log.path()).size() == 1001);
  log.close();
  log.scalar("loss", 1000, 1);
  CHECK(log.flush());
  CHECK(folder.files().size() == 2);
  CHECK(records_below(folder) == 1001);
}

TEST_CASE("writer: threads share a writer without losing or tearing a record") {
  Folder folder;
  {
    Writer log(folder.str(), {.max_buffer_bytes = 1 << 16});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5000; ++i) log.scalar("thread" + std::to_string(t), i, i);
      });
    for (auto& thread : threads) thread.join();
  }
  CHECK(records_below(folder) == 20000);
}

TEST_CASE("writer: a removed directory is made again and later records are kept") {
  Folder folder;
  Writer log(folder.str() + "/run");
  log.scalar("a", 0, 0);
  CHECK(log.flush());
  fs::remove_all(folder.path / "run");
  log.scalar("a", 1, 1);
  CHECK(log.flush());
  CHECK(records_below(folder) == 1);
}

TEST_CASE("writer: a directory that cannot be made is a state, not an end") {
  Folder folder;
  std::ofstream(folder.path / "file") << "in the way";
  int complaints = 0;
  Writer log(folder.str() + "/file/run", {.max_buffer_bytes = 1 << 14,
                                          .on_problem = [&](const std::string&) { ++complaints; }});
  for (int i = 0; i < 5000; ++i) log.scalar("a", i, i);
  CHECK_FALSE(log.flush());
  CHECK_FALSE(log.problem().empty());
  CHECK(log.dropped() > 0);
  fs::remove(folder.path / "file");
  CHECK(log.flush());  // what was kept gets written once there is a place
  CHECK(log.problem().empty());
  CHECK(records_below(folder) + log.dropped() == 5000);
  CHECK(complaints == 1);
}

TEST_CASE("writer: after fork() parent and child write to files of their own") {
  Folder folder;
  Writer log(folder.str());
  for (int i = 0; i < 100; ++i) log.scalar("parent", i, i);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 50; ++i) log.scalar("child", i, i);
    _exit(log.flush() ? 0 : 1);
  }
  for (int i = 100; i < 200; ++i) log.scalar("parent", i, i);
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(log.flush());
  const auto files = folder.files();
  REQUIRE(files.size() == 2);
  CHECK(records(log.path()).size() == 201);
  CHECK(records_below(folder) == 250);
}

TEST_CASE("writer: a full buffer makes callers wait their own way and loses nothing") {
  Folder folder;
  std::atomic<int> waits = 0;
  Writer log(folder.str(),
             {.max_buffer_bytes = 4096, .wait_with = [&](const std::function<void()>& wait) {
                ++waits;
                wait();
              }});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) CHECK(log.scalar("loss", i, i));
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(log.flush());
  CHECK(waits > 0);
  CHECK(records_below(folder) == 15000);
  CHECK(log.dropped() == 0);
}

TEST_CASE("writer: times between two readings of the kernel's clock are the kernel's") {
  WallClock clock;
  const double end = wall_time_now() + 0.02;  // long enough for twenty readings to be replaced
  for (double before = 0; before < end;) {
    before = wall_time_now();
    const double now = clock.now();
    const double after = wall_time_now();
    REQUIRE(now >= before - 20e-6);
    REQUIRE(now <= after + 20e-6);
  }
}

TEST_CASE("writer: unusable data is refused with a sentence, once") {
  Folder folder;
  int complaints = 0;
  std::string said;
  Writer log(folder.str(), {.on_problem = [&](const std::string& text) {
               ++complaints;
               said = text;
             }});
  const std::vector<float> data(12);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(log.image("img", i, array(data, {1, 2, 2, 5})));
  CHECK(complaints == 1);
  CHECK(said == "tag 'img': an image has 1 to 4 channels, not 5");
  CHECK(log.problem() == said);
  CHECK(log.dropped() == 3);
}

TEST_CASE("writer: the C face writes the same records") {
  Folder folder;
  sonde_options options{};
  options.struct_size = sizeof options;
  options.filename_suffix = ".c";
  sonde_writer* log = sonde_open(folder.str().c_str(), &options);
  CHECK(sonde_scalar(log, "loss", 4, 3, 0.5) == 1);
  const int64_t shape[] = {2, 2, 1};
  const uint8_t pixels[] = {0, 1, 2, 3};
  const sonde_array array = {pixels, SONDE_UINT8, 3, shape};
  CHECK(sonde_image(log, "i", 1, 0, &array, 3) == 1);
  const sonde_array wrong = {pixels, SONDE_UINT8, 1, shape};
  CHECK(sonde_image(log, "i", 1, 0, &wrong, 3) == 0);
  char text[16];
  CHECK(sonde_problem(log, text, sizeof text) > sizeof text);
  CHECK(std::string_view(text).size() == 15);
  sonde_close(log);
  REQUIRE(folder.files().size() == 1);
  CHECK(folder.files()[0].extension() == ".c");
  CHECK(records_below(folder) == 2);
}

}  // namespace sonde::writer
