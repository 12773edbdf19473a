// GET numerics…: recordings of numerics, their first fault, rows of traces and executions, the map
// of tensors over steps, ops with their neighbours, stack frames and sources.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/services/numerics_dumps.h"
#include "api/services/services.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "numerics/first_fault.h"
#include "numerics/health_map.h"

namespace sonde::api::v1 {
namespace {

using numerics::Data;
using numerics::Dump;

Result<std::shared_ptr<Dump>> dump_param(const Context& context, const Request& request) {
  SONDE_TRY(name, text_param(request, "dump"));
  return context.services.numerics().find(context, name);
}

Answer answer_of(const Context& context, const Dump& dump, std::string body) {
  return json_answer(context, dump.revision(), std::move(body));
}

Answer list(const Context& context, const Request&) {
  const auto listing = context.services.numerics().list(context);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("dumps").array([&] {
      for (const auto& dump : listing.dumps) {
        const numerics::DumpFiles& files = dump->files();
        json.object([&] {
          json.key("name").string(files.name);
          json.key("start").number(files.start_time());
          json.key("framework").string(files.framework.empty() ? "tensorflow" : files.framework);
          json.key("version").string(files.tensorflow_version);
          json.key("hosts").array([&] {
            for (const auto& set : files.sets) json.string(set.host);
          });
          json.key("rank").number(files.sets.front().rank);
        });
      }
    });
    json.key("problems").array([&] {
      for (const std::string& problem : listing.problems) json.string(problem);
    });
  });
  return json_answer(context, 0, std::move(out));
}

void write_place(JsonWriter& json, const numerics::Place& place) {
  json.key("path").string(place.path);
  json.key("line").number(place.line);
  json.key("function").string(place.function);
}

void write_number(JsonWriter& json, std::string_view name, double value) {
  json.key(name);
  std::isnan(value) || value < 0 ? json.null() : json.number(value);
}

void write_health(JsonWriter& json, const numerics::Health& health,
                  const std::optional<numerics::Numbers>& numbers) {
  json.key("bad").number(static_cast<int>(health.bad));
  json.key("dtype").number(health.dtype);
  json.key("rank").number(health.rank);
  json.key("shape").array([&] {
    for (const int64_t size : health.shape) json.number(size);
  });
  write_number(json, "size", health.size);
  write_number(json, "neg_inf", health.neg_inf);
  write_number(json, "pos_inf", health.pos_inf);
  write_number(json, "nan", health.nan);
  write_number(json, "negative", health.negative);
  write_number(json, "zero", health.zero);
  write_number(json, "positive", health.positive);
  json.key("numbers");
  if (!numbers) return json.null();
  json.object([&] {
    const auto add = [&](std::string_view name, float value) { json.key(name).number(value); };
    add("rms", numbers->rms);
    add("min", numbers->min);
    add("max", numbers->max);
    add("mean", numbers->mean);
    add("subnormal", numbers->subnormal);
    add("beyond_fp16", numbers->beyond_fp16);
    add("beyond_bf16", numbers->beyond_bf16);
    add("beyond_fp8", numbers->beyond_fp8);
  });
}

void write_link(JsonWriter& json, const numerics::Link& link) {
  json.object([&] {
    json.key("op").string(link.op_name);
    json.key("type").string(link.op_type);
    json.key("trace").number(link.trace);
    json.key("execution").number(link.execution);
    write_place(json, link.where);
    write_health(json, link.health, link.numbers);
  });
}

Answer summary(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  const auto fault = numerics::first_fault(*dump);
  const auto files = dump->file_states();
  const auto damages = dump->damages();
  const auto data = dump->view();
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("sentence")
        .string(fault ? numerics::sentence(*fault) : numerics::healthy_sentence(*data));
    json.key("advice").string(fault ? numerics::advice(*fault) : "");
    json.key("fault");
    if (!fault) {
      json.null();
    } else {
      json.object([&] {
        json.key("step").number(fault->step);
        json.key("has_steps").boolean(fault->has_steps);
        json.key("rank").number(fault->rank);
        json.key("followers").number(fault->followers);
        json.key("at").number(static_cast<uint64_t>(fault->at));
        json.key("chain").array([&] {
          for (const numerics::Link& link : fault->chain) write_link(json, link);
        });
      });
    }
    json.key("traces").number(static_cast<uint64_t>(data->traces.size()));
    json.key("executions").number(static_cast<uint64_t>(data->executions.size()));
    json.key("bad_traces").number(data->bad_traces);
    json.key("bad_executions").number(data->bad_executions);
    json.key("graphs").number(static_cast<uint64_t>(data->graphs.size()));
    json.key("ops").number(static_cast<uint64_t>(data->ops.size()));
    json.key("has_steps").boolean(!dump->files().framework.empty());
    json.key("files").array([&] {
      for (const Dump::FileState& file : files) {
        json.object([&] {
          json.key("name").string(file.path.substr(file.path.rfind('/') + 1));
          json.key("kind").string(file.kind);
          json.key("bytes").number(file.bytes);
          json.key("records").number(file.records);
          json.key("damaged").number(file.damages);
        });
      }
    });
    json.key("damage").array([&] {
      for (const numerics::RecordDamage& damage : damages) {
        json.object([&] {
          json.key("file").string(damage.path.substr(damage.path.rfind('/') + 1));
          json.key("offset").number(damage.offset);
          json.key("text").string(damage.text);
        });
      }
    });
  });
  return answer_of(context, *dump, std::move(out));
}

// Positions of the bad rows, so that a page of them can be found.
template <class Rows>
std::vector<size_t> bad_rows(const Rows& rows, size_t most) {
  std::vector<size_t> bad;
  for (size_t i = 0; i < rows.size() && bad.size() < most; ++i) {
    if (rows[i].bad != numerics::kNone) bad.push_back(i);
  }
  return bad;
}

constexpr size_t kMostBad = 1'000'000;

// The rows a request means: all of them, or with only=bad those with NaN or infinity.
template <class Rows, class Write>
Answer rows_answer(const Context& context, const Request& request, const Dump& dump,
                   const Rows& rows, Write write) {
  const bool only_bad = request.param("only").value_or("") == "bad";
  const std::vector<size_t> bad = only_bad ? bad_rows(rows, kMostBad) : std::vector<size_t>();
  const size_t total = only_bad ? bad.size() : rows.size();
  SONDE_ANSWER(const page, page_of(request, total, 200));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(total));
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("rows").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) {
        const size_t at = only_bad ? bad[i] : i;
        json.object([&] {
          json.key("index").number(static_cast<uint64_t>(at));
          write(json, rows[at]);
        });
      }
    });
  });
  return answer_of(context, dump, std::move(out));
}

Answer traces(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  numerics::DetailReader reader(*dump);
  const auto data = dump->view();
  return rows_answer(
      context, request, *dump, data->traces, [&](JsonWriter& json, const numerics::TraceRow& row) {
        const numerics::Traced& traced = data->traced[row.traced];
        const numerics::Op* op = data->op(traced);
        json.key("op").string(data->texts.text(traced.op_name));
        json.key("type").string(op ? data->texts.text(op->type) : std::string_view());
        json.key("graph").string(data->texts.text(traced.context));
        json.key("slot").number(traced.slot);
        json.key("step").number(uint64_t{row.step});
        json.key("wall").number(row.wall_time);
        json.key("mode").string(numerics::name_of(row.mode()));
        const auto detail = reader.trace(traced.file, row.offset);
        json.key("device").string(detail ? std::string_view(detail->device_name) : "");
        numerics::Health unread;
        unread.bad = row.bad;
        write_health(json, detail ? detail->health : unread,
                     detail ? detail->numbers : std::nullopt);
        json.key("histogram").array([&] {
          for (size_t i = 0; detail && i < detail->histogram.size(); ++i)
            json.number(uint64_t{detail->histogram[i]});
        });
      });
}

Answer executions(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  numerics::DetailReader reader(*dump);
  const auto data = dump->view();
  return rows_answer(
      context, request, *dump, data->executions,
      [&](JsonWriter& json, const numerics::ExecutionRow& row) {
        json.key("type").string(data->texts.text(row.op_type));
        json.key("step").number(row.step);
        json.key("wall").number(row.wall_time);
        json.key("mode").string(numerics::name_of(row.mode));
        json.key("bad").number(static_cast<int>(row.bad));
        const auto detail = reader.execution(row.offset);
        json.key("graph").string(detail ? std::string_view(detail->graph_id) : "");
        json.key("inputs").number(static_cast<uint64_t>(detail ? detail->input_ids.size() : 0));
        json.key("outputs").array([&] {
          for (size_t i = 0; detail && i < detail->health.size(); ++i)
            json.object([&] { write_health(json, detail->health[i], std::nullopt); });
        });
      });
}

Answer map(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  const auto data = dump->view();
  SONDE_ANSWER(const page, page_of(request, data->traced.size(), 100, 500));
  const auto order = request.param("order").value_or("wrong") == "program"
                         ? numerics::HealthOrder::kProgram
                         : numerics::HealthOrder::kWentWrongFirst;
  const numerics::HealthMap map =
      numerics::health_map(*data, order, page.begin, page.end - page.begin);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(map.total_rows);
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("steps").array([&] {
      for (const int64_t step : map.steps) json.number(step);
    });
    json.key("rows").array([&] {
      for (const numerics::HealthRow& row : map.rows) {
        const numerics::Traced& traced = data->traced[row.traced];
        const numerics::Op* op = data->op(traced);
        json.object([&] {
          json.key("op").string(data->texts.text(traced.op_name));
          json.key("type").string(op ? data->texts.text(op->type) : std::string_view());
          json.key("graph").string(data->texts.text(traced.context));
          json.key("slot").number(traced.slot);
          json.key("host").number(uint64_t{traced.file});
          json.key("first_bad").number(row.first_bad);
          json.key("rms").array([&] {
            for (const auto& cell : row.cells)
              std::isfinite(cell.rms) ? json.number(cell.rms) : json.null();
          });
          json.key("zeros").array([&] {
            for (const auto& cell : row.cells)
              std::isnan(cell.zeros) ? json.null() : json.number(cell.zeros);
          });
          json.key("bad").array([&] {
            for (const auto& cell : row.cells)
              cell.is_there ? json.number(static_cast<int>(cell.bad)) : json.null();
          });
        });
      }
    });
  });
  return answer_of(context, *dump, std::move(out));
}

void write_frames(JsonWriter& json, const Data& data, const std::vector<std::string_view>& ids) {
  json.key("frames").array([&] {
    for (const std::string_view id : ids) {
      const auto found = data.frames.find(std::string(id));
      if (found == data.frames.end() || found->second.source >= data.sources.size()) continue;
      const numerics::Place own = numerics::user_place(data, {id});
      json.object([&] {
        json.key("source").number(uint64_t{found->second.source});
        json.key("path").string(data.sources[found->second.source].path);
        json.key("line").number(found->second.line);
        json.key("function").string(found->second.function);
        json.key("own").boolean(own.is_known());
      });
    }
  });
}

// An op of a graph, with its inputs, its consumers and where it was made.
Answer op(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  SONDE_ANSWER(const graph_id, text_param(request, "graph"));
  SONDE_ANSWER(const name, text_param(request, "op"));
  const auto data = dump->view();
  const numerics::Op* found = data->op(graph_id, name);
  if (!found)
    return error({Code::kNotFound, fmt::format("there is no op '{}' in this graph", name)});
  const numerics::Graph& graph = data->graphs[found->graph];
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("op").string(found->name);
    json.key("type").string(data->texts.text(found->type));
    json.key("graph").string(graph.id);
    json.key("graphs").array([&] {
      for (const std::string_view id : data->graph_path(graph.id)) {
        const numerics::Graph* one = data->graph(id);
        json.object([&] {
          json.key("id").string(id);
          json.key("name").string(one ? std::string_view(one->name) : "");
        });
      }
    });
    json.key("inputs").array([&] {
      for (const auto& [source, slot] : found->inputs) {
        const numerics::Op* there = data->op(graph.id, source);
        json.object([&] {
          json.key("op").string(source);
          json.key("slot").number(slot);
          json.key("type").string(there ? data->texts.text(there->type) : std::string_view());
        });
      }
    });
    json.key("consumers").array([&] {
      const auto consumers = graph.consumers.find(found->name);
      if (consumers == graph.consumers.end()) return;
      for (const numerics::Consumer& consumer : consumers->second) {
        const numerics::Op& there = data->ops[consumer.op];
        json.object([&] {
          json.key("op").string(there.name);
          json.key("slot").number(consumer.source_slot);
          json.key("input").number(consumer.input_slot);
          json.key("type").string(data->texts.text(there.type));
        });
      }
    });
    json.key("host").string(data->texts.text(found->host));
    std::vector<std::string_view> ids;
    for (const uint32_t id : found->frame_ids) ids.push_back(data->texts.text(id));
    write_frames(json, *data, ids);
  });
  return answer_of(context, *dump, std::move(out));
}

Answer stack(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  SONDE_ANSWER(const index, integer_param(request, "execution", -1));
  const auto data = dump->view();
  if (index < 0 || index >= static_cast<int64_t>(data->executions.size()))
    return error({Code::kNotFound, fmt::format("there is no execution {}", index)});
  numerics::DetailReader reader(*dump);
  SONDE_ANSWER(const detail, reader.execution(data->executions[static_cast<size_t>(index)].offset));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("host").string(detail.host);
    write_frames(json, *data, {detail.frame_ids.begin(), detail.frame_ids.end()});
  });
  return answer_of(context, *dump, std::move(out));
}

Answer source(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  SONDE_ANSWER(const index, integer_param(request, "index", -1));
  const auto data = dump->view();
  if (index < 0 || index >= static_cast<int64_t>(data->sources.size()))
    return error({Code::kNotFound, fmt::format("there is no source file {}", index)});
  const numerics::Source& file = data->sources[static_cast<size_t>(index)];
  numerics::DetailReader reader(*dump);
  SONDE_ANSWER(const lines, reader.source_lines(file.offset));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("host").string(file.host);
    json.key("path").string(file.path);
    json.key("lines").array([&] {
      for (const std::string& line : lines) json.string(line);
    });
  });
  return answer_of(context, *dump, std::move(out));
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/numerics", list},          {"GET", "/api/v1/numerics/summary", summary},
    {"GET", "/api/v1/numerics/traces", traces}, {"GET", "/api/v1/numerics/executions", executions},
    {"GET", "/api/v1/numerics/map", map},       {"GET", "/api/v1/numerics/op", op},
    {"GET", "/api/v1/numerics/stack", stack},   {"GET", "/api/v1/numerics/source", source},
};

}  // namespace

std::span<const Route> numerics_routes() { return kRoutes; }

}  // namespace sonde::api::v1
