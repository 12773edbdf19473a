// What the tensors of a training hold, written as sonde.debug writes it: files of TensorFlow's
// debugger (tfdbg V2) with further numbers in fields that other readers skip.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::wire {
class Encoder;
}

namespace sonde::cli {

class Recording {
 public:
  explicit Recording(const std::string& folder);

  // The program's text; ops refer to its lines.
  void program(std::string_view name, std::span<const std::string_view> lines);
  void op(std::string_view type, std::string_view name, const std::vector<std::string>& inputs,
          int line);
  void trace(std::string_view op, int64_t step, std::span<const float> values);

 private:
  using Fields = std::function<void(wire::Encoder&)>;
  // One event with the message of that number; says on stderr, once, when it cannot be written.
  void write(std::string_view kind, uint32_t number, const Fields& fields, int64_t step = -1);

  std::string prefix_, host_ = "demo";
  std::map<std::string, uint64_t, std::less<>> tensors_;  // by op
  bool has_failed_ = false;
};

}  // namespace sonde::cli
