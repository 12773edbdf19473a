// Event files for tests: records are built by hand, so that a test can also build them wrong.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "codec/wire.h"

namespace sonde::testing {

inline std::string record(std::string_view payload) {
  std::string out;
  const uint64_t length = payload.size();
  out.append(reinterpret_cast<const char*>(&length), 8);
  const uint32_t header_crc = masked_crc32c(as_bytes(out));
  out.append(reinterpret_cast<const char*>(&header_crc), 4);
  out.append(payload);
  const uint32_t crc = masked_crc32c(as_bytes(payload));
  out.append(reinterpret_cast<const char*>(&crc), 4);
  return out;
}

inline std::string event(double wall_time, int64_t step,
                         const std::function<void(wire::Encoder&)>& what) {
  std::string payload;
  wire::Encoder encoder(payload);
  encoder.real(1, wall_time);
  if (step != 0) encoder.varint(2, static_cast<uint64_t>(step));
  what(encoder);
  return payload;
}

inline std::string version_record(double wall_time = 1000,
                                  std::string_view text = "brain.Event:2") {
  return record(event(wall_time, 0, [&](wire::Encoder& e) { e.bytes(3, text); }));
}

inline std::string scalar_record(std::string_view tag, int64_t step, float value,
                                 double wall_time = 1000) {
  return record(event(wall_time, step, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        v.real32(2, value);
      });
    });
  }));
}

inline std::string text_record(std::string_view tag, int64_t step, std::string_view text,
                               double wall_time = 1000) {
  return record(event(wall_time, step, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        v.message(8, [&](wire::Encoder& tensor) {
          tensor.varint(1, 7);
          tensor.bytes(8, text);
        });
        v.message(9, [](wire::Encoder& metadata) {
          metadata.message(1, [](wire::Encoder& plugin) { plugin.bytes(1, "text"); });
        });
      });
    });
  }));
}

inline std::string start_record(int64_t step, double wall_time = 1000) {
  return record(event(wall_time, step, [](wire::Encoder& e) {
    e.message(7, [](wire::Encoder& log) { log.varint(1, 1); });
  }));
}

// A folder that is gone when the test ends.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

  void write(std::string_view name, std::string_view bytes, bool append = false) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream out(path_ / name, append ? std::ios::binary | std::ios::app : std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void append(std::string_view name, std::string_view bytes) const { write(name, bytes, true); }

 private:
  std::filesystem::path path_;
};

}  // namespace sonde::testing
