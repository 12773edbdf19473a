#include "cli/demo/demo_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "codec/wire.h"
#include "log/write/frame.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kGraph = "model";
constexpr uint64_t kFullHealth = 4;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class List>
std::string_view bytes_of(const List& list) {
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]};
}

// Of one tensor: the counts of FULL_HEALTH, and rms, min, max, mean and shares as in
// numerics/health.h.
struct Counted {
  double neg_inf = 0, pos_inf = 0, nan = 0, negative = 0, zero = 0, positive = 0;
  std::array<float, 8> numbers{};
};

Counted count(std::span<const float> values) {
  Counted all;
  double sum = 0, squares = 0, finite = 0;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float value : values) {
    if (std::isnan(value)) {
      ++all.nan;
    } else if (std::isinf(value)) {
      ++(value < 0 ? all.neg_inf : all.pos_inf);
    } else {
      ++(value < 0 ? all.negative : value > 0 ? all.positive : all.zero);
      ++finite;
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const auto share = [&](auto is_so) {
    return static_cast<float>(std::count_if(values.begin(), values.end(), is_so)) /
           static_cast<float>(std::max<size_t>(values.size(), 1));
  };
  const auto beyond = [&](float limit) {
    return share([&](float v) { return std::isfinite(v) && std::fabs(v) > limit; });
  };
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
  const bool has = finite > 0;
  all.numbers = {has ? static_cast<float>(std::sqrt(squares / finite)) : kNothing,
                 has ? low : kNothing,
                 has ? high : kNothing,
                 has ? static_cast<float>(sum / finite) : kNothing,
                 share([](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }),
                 beyond(65504),
                 beyond(3.38953139e38f),
                 beyond(448)};
  return all;
}

}  // namespace

Recording::Recording(const std::string& folder)
    : prefix_(fmt::format("{}/tfdbg_events.{}.demo", folder, static_cast<int64_t>(now()))) {
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  write("metadata", 3, [](wire::Encoder& meta) {
    meta.bytes(1, "sonde demo");
    meta.bytes(2, "debug.Event:1");
    meta.bytes(3, fmt::format("demo-{}", now()));
    meta.bytes(30, "sonde");
  });
  for (const char* kind : {"execution", "graph_execution_traces"})
    std::ofstream(fmt::format("{}.{}", prefix_, kind), std::ios::app);
  write("graphs", 12, [](wire::Encoder& device) { device.bytes(1, "/device:CPU:0"); });
  write("graphs", 8, [](wire::Encoder& graph) {
    graph.bytes(1, kGraph);
    graph.bytes(2, kGraph);
  });
}

void Recording::program(std::string_view name, std::span<const std::string_view> lines) {
  write("source_files", 4, [&](wire::Encoder& source) {
    source.bytes(1, name);
    source.bytes(2, host_);
    for (const std::string_view line : lines) source.bytes(3, line);
  });
  for (size_t line = 1; line <= lines.size(); ++line) {
    write("stack_frames", 6, [&](wire::Encoder& frame) {
      frame.bytes(1, fmt::format("line-{}", line));
      frame.message(2, [&](wire::Encoder& place) {
        place.varint(1, 0);
        place.varint(2, line);
        place.bytes(4, "train");
      });
    });
  }
}

void Recording::op(std::string_view type, std::string_view name,
                   const std::vector<std::string>& inputs, int line) {
  const uint64_t id = tensors_.emplace(name, tensors_.size()).first->second;
  write("graphs", 7, [&](wire::Encoder& op) {
    op.bytes(1, type);
    op.bytes(2, name);
    op.bytes(4, kGraph);
    for (const std::string& input : inputs) op.bytes(6, input + ":0");
    op.varint(7, 1);
    op.message(8, [&](wire::Encoder& where) {
      where.bytes(1, host_);
      where.bytes(2, fmt::format("line-{}", line));
    });
    op.varint(9, id);
  });
}

void Recording::trace(std::string_view op, int64_t step, std::span<const float> values) {
  const auto known = tensors_.find(op);
  const double id = known == tensors_.end() ? -1 : static_cast<double>(known->second);
  const Counted all = count(values);
  const std::array<double, 11> health = {id,
                                         0,
                                         1,
                                         1,
                                         static_cast<double>(values.size()),
                                         all.neg_inf,
                                         all.pos_inf,
                                         all.nan,
                                         all.negative,
                                         all.zero,
                                         all.positive};
  write(
      "graph_execution_traces", 10,
      [&](wire::Encoder& trace) {
        trace.bytes(1, kGraph);
        trace.bytes(2, op);
        trace.varint(4, kFullHealth);
        trace.message(5, [&](wire::Encoder& tensor) {
          tensor.varint(1, 2);
          tensor.message(2, [&](wire::Encoder& shape) {
            shape.message(2, [&](wire::Encoder& dim) { dim.varint(1, health.size()); });
          });
          tensor.bytes(4, bytes_of(health));
        });
        trace.bytes(6, "/device:CPU:0");
        trace.bytes(30, bytes_of(all.numbers));
      },
      step);
}

void Recording::write(std::string_view kind, uint32_t number, const Fields& fields, int64_t step) {
  std::string payload;
  wire::Encoder event(payload);
  event.real(1, now());
  if (step >= 0) event.varint(2, static_cast<uint64_t>(step));
  event.message(number, fields);
  std::string framed(writer::kFrameHead + payload.size() + writer::kFrameTail, '\0');
  std::copy(payload.begin(), payload.end(), framed.begin() + writer::kFrameHead);
  writer::frame(framed.data(), payload.size());
  std::ofstream file(fmt::format("{}.{}", prefix_, kind), std::ios::app | std::ios::binary);
  file.write(framed.data(), static_cast<std::streamsize>(framed.size()));
  if (!file && !has_failed_) {
    has_failed_ = true;
    fmt::print(stderr, "sonde: cannot write {}.{}\n", prefix_, kind);
  }
}

}  // namespace sonde::cli
