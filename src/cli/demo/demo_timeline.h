// What the demo's training did when: spans of real work, written as an XSpace capture with the
// names TensorFlow's profiler gives (steps, waiting for input, ops), so that every profile tool has
// a true capture to show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

class Timeline {
 public:
  Timeline();

  // Measures from its making to its end.
  class Span {
   public:
    Span(Timeline* timeline, std::string_view name);
    // A training step with its number.
    Span(Timeline* timeline, std::string_view name, int64_t step);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Timeline* timeline_;  // null: nothing is recorded
    size_t event_ = 0;
  };

  // <folder>/plugins/profile/<time>/<host>.xplane.pb; says so on stderr when it cannot.
  void write(const std::string& folder) const;

 private:
  struct Event {
    std::string name;
    std::optional<int64_t> step;
    int64_t start_ns = 0, end_ns = 0;  // since the timeline was made
  };
  std::string encoded() const;

  int64_t wall_ns_, zero_ns_;  // the same moment on the wall clock and on the steady one
  std::vector<Event> events_;
};

}  // namespace sonde::cli
