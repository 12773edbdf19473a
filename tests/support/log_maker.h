// Writes small log directories from recipes, byte by byte, without the logging library: what tests
// of the readers and of the API are made from. Wall times are kT0 + step unless said otherwise.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace sonde::test {

inline constexpr double kT0 = 1700000000;

// A folder of its own that disappears with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// One record: length, checksums, payload.
std::string frame(std::string_view payload);

// Event payloads.
std::string version_event(double wall);
std::string scalar_event(std::string_view tag, Step step, double wall, float value);
std::string double_event(std::string_view tag, Step step, double wall, double value);

// A Summary.Value with a tensor of strings, and its plug-in.
struct Strings {
  std::string plugin;
  std::string content;  // plugin_data.content
  std::vector<std::string> values;
  std::vector<int64_t> dims;
};
std::string strings_event(std::string_view tag, Step step, double wall, const Strings& strings);

struct Floats {
  std::string plugin;
  std::string content;
  std::vector<double> values;
  std::vector<int64_t> dims;
  std::string description;
  int data_class = 2;
};
std::string floats_event(std::string_view tag, Step step, double wall, const Floats& floats);

std::string png(uint32_t width, uint32_t height, uint8_t shade);
std::string wav(uint32_t rate, uint32_t frames);

// Appends one line of a recipe (docs in tests/api/README.md) to a log directory; an empty text, or
// what is wrong with the line.
std::string make(const std::filesystem::path& root, std::string_view line);

}  // namespace sonde::test
