// GET numerics…: recordings of numerics, their first fault, rows of traces and executions, the map
// of tensors over steps, ops with their neighbours, stack frames and sources.
#include <fmt/format.h>

#include "api/services/numerics_dumps.h"
#include "api/services/services.h"
#include "api/v1/area.h"
#include "api/v1/numerics/shared.h"
#include "api/v1/support.h"
#include "numerics/first_fault.h"

namespace sonde::api::v1 {

using namespace numerics_area;

namespace {

using numerics::Data;
using numerics::Dump;

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

constexpr size_t kMostChosen = 1'000'000;

// Positions of the rows a request means, so that a page of them can be found: with only=bad those
// with NaN or infinity, with step=N those of that step. Nothing: all rows.
template <class Rows>
std::optional<std::vector<size_t>> chosen_rows(const Rows& rows, bool only_bad, int64_t step) {
  if (!only_bad && step < 0) return std::nullopt;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < rows.size() && chosen.size() < kMostChosen; ++i) {
    if ((!only_bad || rows[i].bad != numerics::kNone) &&
        (step < 0 || static_cast<int64_t>(rows[i].step) == step))
      chosen.push_back(i);
  }
  return chosen;
}

template <class Rows, class Write>
Answer rows_answer(const Context& context, const Request& request, const Dump& dump,
                   const Rows& rows, Write write) {
  const bool only_bad = request.param("only").value_or("") == "bad";
  SONDE_ANSWER(const step, integer_param(request, "step", -1));
  const auto chosen = chosen_rows(rows, only_bad, step);
  const size_t total = chosen ? chosen->size() : rows.size();
  SONDE_ANSWER(const page, page_of(request, total, 200));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(total));
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("rows").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) {
        const size_t at = chosen ? (*chosen)[i] : i;
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
    {"GET", "/api/v1/numerics/map", map},       {"GET", "/api/v1/numerics/alerts", alerts},
    {"GET", "/api/v1/numerics/op", op},         {"GET", "/api/v1/numerics/compare", compare},
    {"GET", "/api/v1/numerics/stack", stack},   {"GET", "/api/v1/numerics/source", source},
};

}  // namespace

std::span<const Route> numerics_routes() { return kRoutes; }

}  // namespace sonde::api::v1
