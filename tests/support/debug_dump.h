// Dumps of tfdbg V2 for tests, built record by record.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "codec/wire.h"
#include "tests/support/event_file.h"

namespace sonde::testing {

// A rank-1 tensor of doubles, as the debug modes write their numbers.
inline std::string double_tensor(const std::vector<double>& values) {
  std::string out;
  wire::Encoder tensor(out);
  tensor.varint(1, 2);
  tensor.message(2, [&](wire::Encoder& shape) {
    shape.message(2, [&](wire::Encoder& dim) { dim.varint(1, values.size()); });
  });
  tensor.bytes(4, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  return out;
}

// FULL_HEALTH of a float32 vector.
inline std::string full_health(double size, double neg_inf, double pos_inf, double nan,
                               double zero = 0) {
  return double_tensor(
      {-1, -1, 1, 1, size, neg_inf, pos_inf, nan, 0, zero, size - neg_inf - pos_inf - nan - zero});
}

class DumpMaker {
 public:
  explicit DumpMaker(std::filesystem::path folder, std::string host = "host", double began = 1000,
                     std::string run_id = "run")
      : folder_(std::move(folder)), host_(std::move(host)), now_(began) {
    std::filesystem::create_directories(folder_);
    write("metadata", 3, [&](wire::Encoder& e) {
      e.bytes(1, "2.21.0");
      e.bytes(2, "debug.Event:1");
      if (!run_id.empty()) e.bytes(3, run_id);
    });
  }

  std::filesystem::path path(std::string_view kind) const {
    return folder_ / ("tfdbg_events.1." + host_ + "." + std::string(kind));
  }
  int64_t step = -1;  // written into the events when not negative

  void source(std::string_view file, const std::vector<std::string>& lines = {}) {
    write("source_files", 4, [&](wire::Encoder& e) {
      e.bytes(1, file);
      e.bytes(2, host_);
      for (const std::string& line : lines) e.bytes(3, line);
    });
  }
  void frame(std::string_view id, int file_index, int line, std::string_view function) {
    write("stack_frames", 6, [&](wire::Encoder& e) {
      e.bytes(1, id);
      e.message(2, [&](wire::Encoder& place) {
        place.varint(1, static_cast<uint64_t>(file_index));
        place.varint(2, static_cast<uint64_t>(line));
        place.bytes(4, function);
      });
    });
  }
  void graph(std::string_view id, std::string_view name, std::string_view outer = "") {
    write("graphs", 8, [&](wire::Encoder& e) {
      e.bytes(1, id);
      e.bytes(2, name);
      if (!outer.empty()) e.bytes(6, outer);
    });
  }
  void op(std::string_view graph, std::string_view type, std::string_view name,
          const std::vector<std::string>& inputs = {},
          const std::vector<std::string>& frames = {}) {
    write("graphs", 7, [&](wire::Encoder& e) {
      e.bytes(1, type);
      e.bytes(2, name);
      e.bytes(4, graph);
      for (const std::string& input : inputs) e.bytes(6, input);
      e.message(8, [&](wire::Encoder& where) {
        where.bytes(1, host_);
        for (const std::string& id : frames) where.bytes(2, id);
      });
      e.varint(9, ++tensors_);
    });
  }
  void trace(std::string_view graph, std::string_view op, int mode, std::string_view tensor,
             int slot = 0) {
    write("graph_execution_traces", 10, [&](wire::Encoder& e) {
      e.bytes(1, graph);
      e.bytes(2, op);
      if (slot != 0) e.varint(3, static_cast<uint64_t>(slot));
      e.varint(4, static_cast<uint64_t>(mode));
      e.bytes(5, tensor);
      e.bytes(6, "/device:CPU:0");
    });
  }
  struct Executed {
    std::vector<uint64_t> inputs, outputs;
    std::vector<std::string> frames;
    std::string graph;
  };
  void execution(std::string_view op, int mode, const std::vector<std::string>& tensors,
                 const Executed& more = {}) {
    write("execution", 9, [&](wire::Encoder& e) {
      e.bytes(1, op);
      if (!more.graph.empty()) e.bytes(3, more.graph);
      for (const uint64_t id : more.inputs) e.varint(4, id);
      for (const uint64_t id : more.outputs) e.varint(5, id);
      e.varint(6, static_cast<uint64_t>(mode));
      for (const std::string& tensor : tensors) e.bytes(7, tensor);
      e.message(8, [&](wire::Encoder& where) {
        where.bytes(1, host_);
        for (const std::string& id : more.frames) where.bytes(2, id);
      });
      e.varint(9, 1);
    });
  }
  void append(std::string_view kind, std::string_view bytes) {
    std::ofstream(path(kind), std::ios::app | std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  void write(std::string_view kind, uint32_t number,
             const std::function<void(wire::Encoder&)>& what) {
    std::string payload;
    wire::Encoder encoder(payload);
    encoder.real(1, now_ += 0.001);
    if (step >= 0) encoder.varint(2, static_cast<uint64_t>(step));
    encoder.message(number, what);
    append(kind, record(payload));
  }

  std::filesystem::path folder_;
  std::string host_;
  double now_;
  uint64_t tensors_ = 0;
};

}  // namespace sonde::testing
