// TensorBoard's debugger-v2 plug-in: dumps of tfdbg V2, answer for answer. The dump in the log
// directory itself has the name TensorBoard gives it; those in folders below go by their folder.
#include <fmt/format.h>

#include <algorithm>

#include "api/services/numerics_dumps.h"
#include "api/services/services.h"
#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {
namespace {

using numerics::Data;
using numerics::Dump;

constexpr std::string_view kRootRun = "__default_debugger_run__";

Answer refused(std::string_view text) {
  std::string out;
  JsonWriter json(out);
  json.object([&] { json.key("error").string(text); });
  Answer answer = Answer::json(std::move(out));
  answer.status = 400;
  return answer;
}

Answer runs(const Context& context, const Request&) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const auto& dump : context.services.numerics().list(context).dumps) {
      const numerics::DumpFiles& files = dump->files();
      json.key(files.name == "." ? kRootRun : std::string_view(files.name)).object([&] {
        json.key("start_time").number(files.start_time());
      });
    }
  });
  return Answer::json(std::move(out));
}

// The dump that the request names, or the answer that refuses it.
struct Asked {
  std::shared_ptr<Dump> dump;
  Answer refusal;
};

Asked asked(const Context& context, const Request& request) {
  const auto run = request.param("run");
  if (!run) return {nullptr, refused("run parameter is not provided")};
  auto dump = context.services.numerics().find(context, *run == kRootRun ? "." : *run);
  if (!dump) return {nullptr, refused("run " + python_name(run) + " has no debugger data")};
  return {std::move(*dump), {}};
}

// TensorBoard keeps a request as one text that it cuts at the first dot to find the run again: a dot
// before that leads to a run that does not exist, which it answers with null.
bool is_lost(std::string_view parameter) { return parameter.find('.') != parameter.npos; }

struct Range {
  int64_t begin = 0, end = -1;
};

std::optional<Answer> range_of(const Request& request, Range& range) {
  for (const auto& [name, into] : {std::pair("begin", &range.begin), {"end", &range.end}}) {
    const auto text = request.param(name);
    if (!text) continue;
    const auto number = integer_of(*text);
    if (!number) return refused(fmt::format("Invalid argument: {} is no number: {}", name, *text));
    *into = *number;
  }
  return std::nullopt;
}

// TensorBoard's rules for a range over `total` things; `end` is filled in.
std::optional<Answer> check(Range& range, size_t total) {
  const auto count = static_cast<int64_t>(total);
  if (range.begin < 0)
    return refused(fmt::format("Invalid argument: Invalid begin index ({})", range.begin));
  if (range.end > count)
    return refused(
        fmt::format("Invalid argument: end index ({}) out of bounds ({})", range.end, count));
  if (range.end >= 0 && range.end < range.begin)
    return refused(
        fmt::format("Invalid argument: end index ({}) is unexpectedly less than begin index ({})",
                    range.end, range.begin));
  if (range.end < 0) range.end = count;
  return std::nullopt;
}

// The items that a range means. TensorBoard takes 0 as the end of detailed data for "all".
Range items(const Range& range, size_t total, bool zero_is_all) {
  Range r = range;
  if (zero_is_all && r.end == 0) r.end = static_cast<int64_t>(total);
  r.begin = std::min(r.begin, r.end);
  return r;
}

void write_integers(JsonWriter& json, const std::vector<int64_t>& list) {
  if (list.empty()) return json.null();
  json.array([&] {
    for (const int64_t value : list) json.number(value);
  });
}

void write_values(JsonWriter& json, const std::optional<std::vector<double>>& values) {
  if (!values || values->empty()) return json.null();
  json.array([&] {
    for (const double value : *values) json.number(value);
  });
}

void write_texts(JsonWriter& json, const std::vector<std::string_view>& texts) {
  json.array([&] {
    for (const std::string_view text : texts) json.string(text);
  });
}

std::string_view type_of(const Data& data, const numerics::Traced& traced) {
  const numerics::Op* op = data.op(traced);
  return op ? data.texts.text(op->type) : std::string_view();
}

void write_alert(JsonWriter& json, const Data& data, const numerics::InfNanAlert& alert) {
  const auto count = [&](std::string_view name, double value) {
    json.key(name);
    value < 0 ? json.null() : json.number(value);
  };
  const auto index = [&](std::string_view name, int64_t value) {
    json.key(name);
    value < 0 ? json.null() : json.number(value);
  };
  json.object([&] {
    json.key("alert_type").string("InfNanAlert");
    json.key("op_type").string(
        alert.trace < 0
            ? data.texts.text(alert.op_type)
            : type_of(data, data.traced[data.traces[static_cast<size_t>(alert.trace)].traced]));
    json.key("output_slot").number(alert.slot);
    count("size", alert.size);
    count("num_neg_inf", alert.neg_inf);
    count("num_pos_inf", alert.pos_inf);
    count("num_nan", alert.nan);
    index("execution_index", alert.execution);
    index("graph_execution_trace_index", alert.trace);
  });
}

Answer alerts(const Context& context, const Request& request) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  Range range;
  if (auto refusal = range_of(request, range)) return *refusal;
  const auto type = request.param("alert_type");
  if (type && is_lost(*type)) return Answer::json("null");
  const auto data = from.dump->view();
  const size_t total = data->alerts.size();
  if (type && (*type != "InfNanAlert" || total == 0))
    return refused(fmt::format(
        "Invalid argument: Filtering of alerts failed: alert type {} does not exist", *type));
  if (auto refusal = check(range, total)) return *refusal;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("begin").number(range.begin);
    json.key("end").number(range.end);
    json.key("alert_type");
    type ? json.string(*type) : json.null();
    json.key("num_alerts").number(static_cast<uint64_t>(total));
    json.key("alerts_breakdown").object([&] {
      if (total > 0) json.key("InfNanAlert").number(static_cast<uint64_t>(total));
    });
    json.key("per_type_alert_limit").number(static_cast<uint64_t>(numerics::kMostAlerts));
    json.key("alerts").array([&] {
      const Range r = items(range, total, false);
      for (int64_t i = r.begin; i < r.end; ++i)
        write_alert(json, *data, data->alerts[static_cast<size_t>(i)]);
    });
  });
  return Answer::json(std::move(out));
}

void write_digest(JsonWriter& json, const Data& data, const numerics::ExecutionRow& row) {
  json.key("wall_time").number(row.wall_time);
  json.key("op_type").string(data.texts.text(row.op_type));
  json.key("output_tensor_device_ids");
  write_integers(json, data.device_lists[row.device_list]);
}

void write_digest(JsonWriter& json, const Data& data, const numerics::TraceRow& row) {
  const numerics::Traced& traced = data.traced[row.traced];
  json.key("wall_time").number(row.wall_time);
  json.key("op_type").string(type_of(data, traced));
  json.key("op_name").string(data.texts.text(traced.op_name));
  json.key("output_slot").number(traced.slot);
  json.key("graph_id").string(data.texts.text(traced.context));
}

template <class Rows>
Answer digests(const Context& context, const Request& request, Rows rows_of,
               std::string_view list_name) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  Range range;
  if (auto refusal = range_of(request, range)) return *refusal;
  const auto data = from.dump->view();
  const auto& rows = rows_of(*data);
  if (auto refusal = check(range, rows.size())) return *refusal;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("begin").number(range.begin);
    json.key("end").number(range.end);
    json.key("num_digests").number(static_cast<uint64_t>(rows.size()));
    json.key(list_name).array([&] {
      const Range r = items(range, rows.size(), false);
      for (int64_t i = r.begin; i < r.end; ++i)
        json.object([&] { write_digest(json, *data, rows[static_cast<size_t>(i)]); });
    });
  });
  return Answer::json(std::move(out));
}

const auto& executions_of(const Data& data) { return data.executions; }
const auto& traces_of(const Data& data) { return data.traces; }

Answer execution_digests(const Context& context, const Request& request) {
  return digests(context, request, executions_of, "execution_digests");
}

Answer trace_digests(const Context& context, const Request& request) {
  return digests(context, request, traces_of, "graph_execution_digests");
}

void write_detail(JsonWriter& json, const numerics::ExecutionDetail& detail) {
  json.key("host_name").string(detail.host);
  json.key("stack_frame_ids").array([&] {
    for (const std::string& id : detail.frame_ids) json.string(id);
  });
  json.key("tensor_debug_mode").number(static_cast<int>(detail.mode));
  json.key("graph_id").string(detail.graph_id);
  json.key("input_tensor_ids");
  write_integers(json, detail.input_ids);
  json.key("output_tensor_ids");
  write_integers(json, detail.output_ids);
  json.key("debug_tensor_values");
  const bool has_values = detail.mode != numerics::DebugMode::kFullTensor &&
                          detail.mode != numerics::DebugMode::kNoTensor && !detail.values.empty();
  if (!has_values) return json.null();
  json.array([&] {
    for (const auto& values : detail.values) write_values(json, values);
  });
}

template <class Rows, class Write>
Answer details(const Context& context, const Request& request, Rows rows_of,
               std::string_view list_name, Write write) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  Range range;
  if (auto refusal = range_of(request, range)) return *refusal;
  const auto data = from.dump->view();
  const auto& rows = rows_of(*data);
  if (auto refusal = check(range, rows.size())) return *refusal;
  numerics::DetailReader reader(*from.dump);
  std::optional<Error> error;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("begin").number(range.begin);
    json.key("end").number(range.end);
    json.key(list_name).array([&] {
      const Range r = items(range, rows.size(), true);
      for (int64_t i = r.begin; i < r.end && !error && !request.is_abandoned(); ++i)
        error = write(json, *data, rows[static_cast<size_t>(i)], reader);
    });
  });
  if (error) return refused(error->text);
  return Answer::json(std::move(out));
}

Answer execution_data(const Context& context, const Request& request) {
  return details(context, request, executions_of, "executions",
                 [](JsonWriter& json, const Data& data, const numerics::ExecutionRow& row,
                    numerics::DetailReader& reader) -> std::optional<Error> {
                   const auto detail = reader.execution(row.offset);
                   if (!detail) return detail.error();
                   json.object([&] {
                     write_digest(json, data, row);
                     write_detail(json, *detail);
                   });
                   return std::nullopt;
                 });
}

Answer trace_data(const Context& context, const Request& request) {
  return details(context, request, traces_of, "graph_executions",
                 [](JsonWriter& json, const Data& data, const numerics::TraceRow& row,
                    numerics::DetailReader& reader) -> std::optional<Error> {
                   const numerics::Traced& traced = data.traced[row.traced];
                   const auto detail = reader.trace(traced.file, row.offset);
                   if (!detail) return detail.error();
                   json.object([&] {
                     write_digest(json, data, row);
                     json.key("graph_ids");
                     write_texts(json, data.graph_path(data.texts.text(traced.context)));
                     json.key("tensor_debug_mode").number(static_cast<int>(detail->mode));
                     json.key("debug_tensor_value");
                     write_values(json, detail->values);
                     json.key("device_name");
                     detail->device_name.empty() ? json.null() : json.string(detail->device_name);
                   });
                   return std::nullopt;
                 });
}

Answer graph_info(const Context& context, const Request& request) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  const auto id = request.param("graph_id");
  if (!id || id->empty()) return refused("graph_id must not be None or empty.");
  const auto data = from.dump->view();
  const numerics::Graph* graph = data->graph(*id);
  if (!graph) return refused(fmt::format("Not found: There is no graph with ID \"{}\"", *id));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("name");
    graph->name.empty() ? json.null() : json.string(graph->name);
    json.key("graph_id").string(graph->id);
    json.key("outer_graph_id");
    graph->outer_id.empty() ? json.null() : json.string(graph->outer_id);
    json.key("inner_graph_ids").array([&] {
      for (const std::string& inner : graph->inner_ids) json.string(inner);
    });
  });
  return Answer::json(std::move(out));
}

// An op; its neighbours come with their own data, theirs do not.
void write_op(JsonWriter& json, const Data& data, const numerics::Op& op, bool with_neighbours) {
  const numerics::Graph& graph = data.graphs[op.graph];
  const auto neighbour = [&](std::string_view name, std::string_view slot_name, int64_t slot,
                             const numerics::Op* there) {
    json.object([&] {
      json.key("op_name").string(name);
      json.key(slot_name).number(slot);
      if (!with_neighbours || !there) return;
      json.key("data");
      write_op(json, data, *there, false);
    });
  };
  json.object([&] {
    json.key("wall_time").number(op.wall_time);
    json.key("op_type").string(data.texts.text(op.type));
    json.key("op_name").string(op.name);
    json.key("output_tensor_ids");
    write_integers(json, op.output_ids);
    json.key("host_name").string(data.texts.text(op.host));
    json.key("stack_frame_ids").array([&] {
      for (const uint32_t id : op.frame_ids) json.string(data.texts.text(id));
    });
    json.key("device_name").null();
    json.key("graph_ids");
    write_texts(json, data.graph_path(graph.id));
    json.key("num_outputs").number(static_cast<uint64_t>(op.output_ids.size()));
    json.key("inputs").array([&] {
      for (const auto& [name, slot] : op.inputs) {
        const auto there = graph.ops.find(name);
        neighbour(name, "output_slot", slot,
                  there == graph.ops.end() ? nullptr : &data.ops[there->second]);
      }
    });
    json.key("consumers").array([&] {
      const auto consumers = graph.consumers.find(op.name);
      for (size_t slot = 0; slot < op.output_ids.size(); ++slot) {
        json.array([&] {
          if (consumers == graph.consumers.end()) return;
          for (const numerics::Consumer& consumer : consumers->second) {
            if (consumer.source_slot != static_cast<int64_t>(slot)) continue;
            const numerics::Op& there = data.ops[consumer.op];
            neighbour(there.name, "input_slot", consumer.input_slot, &there);
          }
        });
      }
    });
  });
}

Answer op_info(const Context& context, const Request& request) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  const auto asked_graph = request.param("graph_id");
  if (!asked_graph || asked_graph->empty()) return refused("graph_id must not be None or empty.");
  const auto data = from.dump->view();
  std::string graph_id(*asked_graph), name(request.param("op_name").value_or("None"));
  if (!data->graph(graph_id)) {
    // TensorBoard joins the two by '_' and cuts at the first one.
    const size_t cut = graph_id.find('_');
    if (cut != graph_id.npos) graph_id.resize(cut);
    return refused(fmt::format("Not found: There is no graph with ID \"{}\"", graph_id));
  }
  const numerics::Op* op = data->op(graph_id, name);
  if (!op)
    return refused(fmt::format("Not found: There is no op named \"{}\" in graph with ID \"{}\"",
                               name, graph_id));
  std::string out;
  JsonWriter json(out);
  write_op(json, *data, *op, true);
  return Answer::json(std::move(out));
}

Answer source_list(const Context& context, const Request& request) {
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  const auto data = from.dump->view();
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const numerics::Source& source : data->sources) {
      json.array([&] {
        json.string(source.host);
        json.string(source.path);
      });
    }
  });
  return Answer::json(std::move(out));
}

Answer source_file(const Context& context, const Request& request) {
  const auto text = request.param("index");
  if (request.param("run") && !text)
    return refused("index is not provided for source file content");
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  const auto index = integer_of(*text);
  if (!index) return refused(fmt::format("Invalid argument: index is no number: {}", *text));
  const auto data = from.dump->view();
  // Python counts negative ones from the end.
  const auto count = static_cast<int64_t>(data->sources.size());
  const int64_t at = *index < 0 ? *index + count : *index;
  if (at < 0 || at >= count)
    return refused(fmt::format("Not found: There is no source-code file at index {}", *index));
  const numerics::Source& source = data->sources[static_cast<size_t>(at)];
  numerics::DetailReader reader(*from.dump);
  const auto lines = reader.source_lines(source.offset);
  if (!lines) return refused(lines.error().text);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("host_name").string(source.host);
    json.key("file_path").string(source.path);
    json.key("lines").array([&] {
      for (const std::string& line : *lines) json.string(line);
    });
  });
  return Answer::json(std::move(out));
}

Answer stack_frames(const Context& context, const Request& request) {
  const auto ids = request.param("stack_frame_ids");
  if (request.param("run") && !ids) return refused("Missing stack_frame_ids parameter");
  if (request.param("run") && ids->empty()) return refused("Empty stack_frame_ids parameter");
  Asked from = asked(context, request);
  if (!from.dump) return from.refusal;
  if (is_lost(*ids)) return Answer::json("null");
  const auto data = from.dump->view();
  std::string out;
  JsonWriter json(out);
  std::optional<Answer> refusal;
  json.object([&] {
    json.key("stack_frames").array([&] {
      for (size_t at = 0; at <= ids->size() && !refusal;) {
        // TensorBoard joins the ids by '_' and cuts there again.
        const size_t cut = std::min(ids->find_first_of(",_", at), ids->size());
        const std::string id(ids->substr(at, cut - at));
        at = cut + 1;
        const auto found = data->frames.find(id);
        if (found == data->frames.end() || found->second.source == UINT32_MAX) {
          refusal = refused(fmt::format("Not found: Cannot find stack frame with ID {}", id));
          return;
        }
        const numerics::Source& source = data->sources[found->second.source];
        json.array([&] {
          json.string(source.host);
          json.string(source.path);
          json.number(found->second.line);
          json.string(found->second.function);
        });
      }
    });
  });
  if (refusal) return *refusal;
  return Answer::json(std::move(out));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/debugger-v2/runs", runs},
    {"*", "/data/plugin/debugger-v2/alerts", alerts},
    {"*", "/data/plugin/debugger-v2/execution/digests", execution_digests},
    {"*", "/data/plugin/debugger-v2/execution/data", execution_data},
    {"*", "/data/plugin/debugger-v2/graph_execution/digests", trace_digests},
    {"*", "/data/plugin/debugger-v2/graph_execution/data", trace_data},
    {"*", "/data/plugin/debugger-v2/graphs/graph_info", graph_info},
    {"*", "/data/plugin/debugger-v2/graphs/op_info", op_info},
    {"*", "/data/plugin/debugger-v2/source_files/list", source_list},
    {"*", "/data/plugin/debugger-v2/source_files/file", source_file},
    {"*", "/data/plugin/debugger-v2/stack_frames/stack_frames", stack_frames},
};

}  // namespace

std::span<const Route> debugger_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
