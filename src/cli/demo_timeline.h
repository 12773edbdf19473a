// What the demo's training did when: spans of real work, written as a Chrome trace of the kind
// PyTorch's profiler makes, so that the profile dashboards have a capture to show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

class Timeline {
 public:
  // Measures from its making to its end.
  class Span {
   public:
    Span(Timeline* timeline, std::string_view name, std::string_view category);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Timeline* timeline_;  // null: nothing is recorded
    size_t event_ = 0;
  };

  // <folder>/plugins/profile/<time>/<host>.trace.json; says so on stderr when it cannot.
  void write(const std::string& folder) const;

 private:
  struct Event {
    std::string name;
    std::string_view category;
    double start_us = 0, end_us = 0;
  };
  std::vector<Event> events_;
};

}  // namespace sonde::cli
