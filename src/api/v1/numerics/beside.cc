// GET numerics/map, alerts, compare: tensors over steps, several recordings side by side.
#include <algorithm>
#include <cmath>
#include <map>

#include "api/services/numerics_dumps.h"
#include "api/services/services.h"
#include "api/v1/numerics/shared.h"
#include "numerics/alerts.h"
#include "numerics/compare.h"
#include "numerics/health_map.h"

namespace sonde::api::v1::numerics_area {
namespace {

using numerics::Data;
using numerics::Dump;

constexpr size_t kMostBeside = 64;  // ranks in one answer

void write_cells(JsonWriter& json, const std::vector<numerics::HealthCell>& cells) {
  const auto shares = [&](std::string_view name, float numerics::HealthCell::* share) {
    json.key(name).array([&] {
      for (const auto& cell : cells)
        std::isfinite(cell.*share) ? json.number(cell.*share) : json.null();
    });
  };
  shares("rms", &numerics::HealthCell::rms);
  shares("zeros", &numerics::HealthCell::zeros);
  shares("wrong", &numerics::HealthCell::wrong);
  shares("saturated", &numerics::HealthCell::saturated);
  json.key("bad").array([&] {
    for (const auto& cell : cells)
      cell.is_there ? json.number(static_cast<int>(cell.bad)) : json.null();
  });
}

}  // namespace

Answer map(const Context& context, const Request& request) {
  std::vector<std::shared_ptr<Dump>> dumps;
  SONDE_ANSWER(first, dump_param(context, request));
  dumps.push_back(first);
  for (const std::string_view name : request.params("beside")) {
    if (dumps.size() > kMostBeside)
      return error({Code::kInvalid, "at most 64 recordings are laid beside another"});
    SONDE_ANSWER(other, context.services.numerics().find(context, name));
    // A view of the same recording twice would lock it twice.
    if (std::find(dumps.begin(), dumps.end(), other) == dumps.end()) dumps.push_back(other);
  }
  const auto views = numerics::views_of(dumps);
  std::vector<const Data*> parts;
  for (const auto& dump : dumps) parts.push_back(&*views.at(dump.get()));
  size_t most = 0;
  for (const Data* part : parts) most += part->traced.size();
  SONDE_ANSWER(const page, page_of(request, most, 100, 500));
  const std::string_view named = request.param("order").value_or("wrong");
  const auto order = named == "program"  ? numerics::HealthOrder::kProgram
                     : named == "module" ? numerics::HealthOrder::kModule
                                         : numerics::HealthOrder::kWentWrongFirst;
  const numerics::HealthMap map =
      numerics::health_map(parts, order, page.begin, page.end - page.begin);
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
        const Data& data = *parts[row.part];
        const numerics::Traced& traced = data.traced[row.traced];
        const numerics::Op* op = data.op(traced);
        json.object([&] {
          json.key("op").string(data.texts.text(traced.op_name));
          json.key("type").string(op ? data.texts.text(op->type) : std::string_view());
          json.key("graph").string(data.texts.text(traced.context));
          json.key("slot").number(traced.slot);
          json.key("host").number(uint64_t{traced.file});
          json.key("first_bad").number(row.first_bad);
          write_cells(json, row.cells.front());
          if (parts.size() == 1) return;
          json.key("beside").array([&] {
            for (size_t part = 1; part < parts.size(); ++part)
              json.object([&] { write_cells(json, row.cells[part]); });
          });
        });
      }
    });
  });
  return answer_of(context, *first, std::move(out));
}

Answer alerts(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  const auto data = dump->view();
  const std::vector<numerics::Alert> all = numerics::alerts(*data);
  const std::string_view only = request.param("kind").value_or("");
  std::vector<const numerics::Alert*> shown;
  std::map<numerics::AlertKind, uint64_t> counts;
  for (const numerics::Alert& alert : all) {
    ++counts[alert.kind];
    if (only.empty() || only == name_of(alert.kind)) shown.push_back(&alert);
  }
  SONDE_ANSWER(const page, page_of(request, shown.size(), 200));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("total").number(static_cast<uint64_t>(shown.size()));
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("counts").object([&] {
      for (const auto& [kind, count] : counts) json.key(name_of(kind)).number(count);
    });
    json.key("rows").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) {
        const numerics::TraceRow& row = data->traces[shown[i]->row];
        const numerics::Traced& traced = data->traced[row.traced];
        const numerics::Op* op = data->op(traced);
        json.object([&] {
          json.key("kind").string(name_of(shown[i]->kind));
          json.key("text").string(shown[i]->text);
          json.key("trace").number(shown[i]->row);
          json.key("step").number(uint64_t{row.step});
          json.key("op").string(data->texts.text(traced.op_name));
          json.key("type").string(op ? data->texts.text(op->type) : std::string_view());
          json.key("graph").string(data->texts.text(traced.context));
          json.key("slot").number(traced.slot);
        });
      }
    });
  });
  return answer_of(context, *dump, std::move(out));
}

Answer compare(const Context& context, const Request& request) {
  SONDE_ANSWER(dump, dump_param(context, request));
  SONDE_ANSWER(other, dump_param(context, request, "other"));
  if (dump == other) return error({Code::kInvalid, "a recording cannot be compared with itself"});
  const numerics::Comparison found = numerics::compare(*dump, *other);
  SONDE_ANSWER(const page, page_of(request, found.divergences.size(), 100));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("sentence").string(sentence(found));
    json.key("compared").number(found.compared);
    json.key("only_first").number(found.only_first);
    json.key("only_second").number(found.only_second);
    json.key("total").number(static_cast<uint64_t>(found.divergences.size()));
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("rows").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) {
        const numerics::Divergence& one = found.divergences[i];
        json.object([&] {
          json.key("step").number(one.step);
          json.key("what").string(one.what);
          json.key("first");
          write_link(json, one.first);
          json.key("second");
          write_link(json, one.second);
        });
      }
    });
  });
  return answer_of(context, *dump, std::move(out));
}

}  // namespace sonde::api::v1::numerics_area
