#include "cli/demo/demo_timeline.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "base/intern.h"
#include "base/log.h"
#include "codec/wire.h"
#include "io/write_file.h"

namespace sonde::cli {
namespace {

template <class Clock>
int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "localhost";
}

}  // namespace

Timeline::Timeline()
    : wall_ns_(now_ns<std::chrono::system_clock>()),
      zero_ns_(now_ns<std::chrono::steady_clock>()) {}

Timeline::Span::Span(Timeline* timeline, std::string_view name) : timeline_(timeline) {
  if (timeline_ == nullptr) return;
  event_ = timeline_->events_.size();
  timeline_->events_.push_back({std::string(name), std::nullopt, 0, 0});
  timeline_->events_.back().start_ns = now_ns<std::chrono::steady_clock>() - timeline_->zero_ns_;
}

Timeline::Span::Span(Timeline* timeline, std::string_view name, int64_t step)
    : Span(timeline, name) {
  if (timeline_ != nullptr) timeline_->events_[event_].step = step;
}

Timeline::Span::~Span() {
  if (timeline_ == nullptr) return;
  timeline_->events_[event_].end_ns = now_ns<std::chrono::steady_clock>() - timeline_->zero_ns_;
}

// XSpace of one plane with one line; the field numbers are in import/xplane/xplane.cc.
std::string Timeline::encoded() const {
  constexpr uint64_t kRoot = 1, kStepNumber = 2;  // numbers of the stats
  StringTable names;
  std::string out;
  wire::Encoder space(out);
  space.message(1, [&](wire::Encoder& plane) {
    plane.varint(1, 1);
    plane.bytes(2, "/host:CPU");
    plane.message(3, [&](wire::Encoder& line) {
      line.varint(1, static_cast<uint64_t>(::getpid()));
      line.bytes(2, "train");
      line.varint(3, static_cast<uint64_t>(wall_ns_));
      for (const Event& event : events_) {
        line.message(4, [&](wire::Encoder& e) {
          e.varint(1, names.id(event.name) + 1);
          e.varint(2, static_cast<uint64_t>(event.start_ns) * 1000);
          e.varint(3, static_cast<uint64_t>(event.end_ns - event.start_ns) * 1000);
          if (!event.step) return;
          for (const auto& [stat, value] :
               {std::pair<uint64_t, int64_t>{kRoot, 1}, {kStepNumber, *event.step}}) {
            e.message(4, [&](wire::Encoder& s) {
              s.varint(1, stat);
              s.varint(4, static_cast<uint64_t>(value));
            });
          }
        });
      }
    });
    const auto metadata = [&](uint32_t field, uint64_t id, std::string_view name) {
      plane.message(field, [&](wire::Encoder& entry) {
        entry.varint(1, id);
        entry.message(2, [&](wire::Encoder& value) {
          value.varint(1, id);
          value.bytes(2, name);
        });
      });
    };
    for (uint32_t id = 0; id < names.size(); ++id) metadata(4, id + 1, names.text(id));
    metadata(5, kRoot, "_r");
    metadata(5, kStepNumber, "step_num");
  });
  space.bytes(4, host_name());
  return out;
}

void Timeline::write(const std::string& folder) const {
  const std::string path = fmt::format("{}/plugins/profile/{:%Y_%m_%d_%H_%M_%S}/{}.xplane.pb",
                                       folder, fmt::localtime(std::time(nullptr)), host_name());
  if (const auto written = io::write_whole(path, encoded()); !written)
    log::warn("the demo could not write its capture: {}", written.error().text);
}

}  // namespace sonde::cli
