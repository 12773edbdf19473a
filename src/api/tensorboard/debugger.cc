// TensorBoard's debugger-v2 plug-in, as it answers when no log holds debugger dumps.
#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {
namespace {

Answer runs(const Context&, const Request&) { return Answer::json("{}"); }

Answer nothing(const Context&, const Request& request) {
  const auto run = request.param("run");
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("error").string(run ? "run " + python_name(run) + " has no debugger data"
                                 : "run parameter is not provided");
  });
  Answer answer = Answer::json(std::move(out));
  answer.status = 400;
  return answer;
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/debugger-v2/runs", runs},
    {"*", "/data/plugin/debugger-v2/alerts", nothing},
    {"*", "/data/plugin/debugger-v2/execution/digests", nothing},
    {"*", "/data/plugin/debugger-v2/execution/data", nothing},
    {"*", "/data/plugin/debugger-v2/graph_execution/digests", nothing},
    {"*", "/data/plugin/debugger-v2/graph_execution/data", nothing},
    {"*", "/data/plugin/debugger-v2/graphs/graph_info", nothing},
    {"*", "/data/plugin/debugger-v2/graphs/op_info", nothing},
    {"*", "/data/plugin/debugger-v2/source_files/list", nothing},
    {"*", "/data/plugin/debugger-v2/source_files/file", nothing},
    {"*", "/data/plugin/debugger-v2/stack_frames/stack_frames", nothing},
};

}  // namespace

std::span<const Route> debugger_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
