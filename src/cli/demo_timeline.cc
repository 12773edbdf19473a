#include "cli/demo_timeline.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/json.h"
#include "base/log.h"

namespace sonde::cli {
namespace {

double now_us() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "localhost";
}

}  // namespace

Timeline::Span::Span(Timeline* timeline, std::string_view name, std::string_view category)
    : timeline_(timeline) {
  if (timeline_ == nullptr) return;
  event_ = timeline_->events_.size();
  timeline_->events_.push_back({std::string(name), category, now_us(), 0});
}

Timeline::Span::~Span() {
  if (timeline_ != nullptr) timeline_->events_[event_].end_us = now_us();
}

void Timeline::write(const std::string& folder) const {
  const std::string session = fmt::format("{}/plugins/profile/{:%Y_%m_%d_%H_%M_%S}", folder,
                                          fmt::localtime(std::time(nullptr)));
  std::error_code error;
  std::filesystem::create_directories(session, error);
  std::string out;
  JsonWriter json(out);
  const auto process = static_cast<int64_t>(getpid());
  json.object([&] {
    json.key("schemaVersion").number(1);
    json.key("traceEvents").array([&] {
      for (const Event& event : events_) {
        json.object([&] {
          json.key("ph").string("X");
          json.key("cat").string(event.category);
          json.key("name").string(event.name);
          json.key("pid").number(process);
          json.key("tid").number(process);
          json.key("ts").number(event.start_us);
          json.key("dur").number(event.end_us - event.start_us);
        });
      }
    });
  });
  const std::string path = session + "/" + host_name() + ".trace.json";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool whole = file != nullptr && std::fwrite(out.data(), 1, out.size(), file) == out.size();
  if (file == nullptr || std::fclose(file) != 0 || !whole)
    log::warn("the demo could not write {}", path);
}

}  // namespace sonde::cli
