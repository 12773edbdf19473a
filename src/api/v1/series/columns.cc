// POST columns, nearest and outside: scalar series as typed arrays, the point under a cursor, and
// how many points a range of values leaves out.
#include "log/query/series/columns.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/series/columns_arrow.h"
#include "api/v1/series/series_list.h"
#include "api/v1/support.h"
#include "log/query/series/outside.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxSets = 10000;
constexpr char kExpression = '=';  // before the text of an expression that stands in place of a tag

Result<void> read_x(const JsonValue& body, query::Question& question, std::string& x_tag) {
  SONDE_TRY(const x, text_in(body, "x", "step"));
  if (x == "step") {
    question.axis = query::Axis::kStep;
  } else if (x == "relative") {
    question.axis = query::Axis::kRelative;
  } else if (x == "wall") {
    question.axis = query::Axis::kWall;
  } else if (x.starts_with("tag:")) {
    question.x_is_tag = true;
    x_tag = x.substr(4);
  } else {
    return fail(Code::kInvalid, fmt::format("'x' is '{}', not step, relative, wall or tag:…", x));
  }
  SONDE_TRY(const scale, text_in(body, "xscale", "linear"));
  if (scale == "linear") {
    question.scale = query::Scale::kLinear;
  } else if (scale == "log") {
    question.scale = query::Scale::kLog;
  } else if (scale == "symlog") {
    question.scale = query::Scale::kSymlog;
  } else {
    return fail(Code::kInvalid, fmt::format("'xscale' is '{}', not linear, log or symlog", scale));
  }
  return {};
}

Result<void> read_range(const JsonValue& body, query::Question& question) {
  const JsonValue* range = body.find("range");
  if (!range) return {};
  const bool pair = range->is_array() && range->items.size() == 2;
  const auto x0 = pair ? range->items[0].number() : std::nullopt;
  const auto x1 = pair ? range->items[1].number() : std::nullopt;
  if (!x0 || !x1 || !std::isfinite(*x0) || !std::isfinite(*x1) || *x0 > *x1)
    return fail(Code::kInvalid, "'range' is not a list of two numbers in ascending order");
  question.range = {*x0, *x1};
  return {};
}

Result<query::Wanted> wanted_in(const JsonValue& body) {
  query::Wanted wanted;
  const JsonValue* list = body.find("agg");
  if (!list) return wanted;
  if (!list->is_array()) return fail(Code::kInvalid, "'agg' is not a list");
  wanted = {false, false, false, false, false, false, false, false};
  struct Name {
    std::string_view name;
    bool query::Wanted::* field;
  };
  static constexpr Name kNames[] = {
      {"min", &query::Wanted::min},   {"max", &query::Wanted::max},
      {"last", &query::Wanted::last}, {"first", &query::Wanted::first},
      {"mean", &query::Wanted::mean}, {"count", &query::Wanted::count},
      {"step", &query::Wanted::step}, {"wall", &query::Wanted::wall}};
  for (const JsonValue& item : list->items) {
    const auto* found = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& name) {
      return item.is_string() && name.name == item.text;
    });
    if (found == std::end(kNames))
      return fail(Code::kInvalid, fmt::format("'agg' does not know {}", to_text(item)));
    wanted.*found->field = true;
  }
  return wanted;
}

Result<query::GroupRule> rule_in(const JsonValue& group) {
  query::GroupRule rule;
  SONDE_TRY(const centre, text_in(group, "centre", "mean"));
  if (centre != "mean" && centre != "median")
    return fail(Code::kInvalid, fmt::format("'centre' is '{}', not mean or median", centre));
  if (centre == "median") rule.centre = query::GroupRule::Centre::kMedian;
  SONDE_TRY(const band, text_in(group, "band", "std"));
  using Band = query::GroupRule::Band;
  if (band == "std") {
    rule.band = Band::kStd;
  } else if (band == "se") {
    rule.band = Band::kStandardError;
  } else if (band == "minmax") {
    rule.band = Band::kMinMax;
  } else if (band == "boot95") {
    rule.band = Band::kBootstrap;
  } else if (band.starts_with("q:")) {
    rule.band = Band::kQuantiles;
    const auto pair = read_json("[" + band.substr(2) + "]");
    const bool two = pair && pair->items.size() == 2;
    rule.low = two ? pair->items[0].number().value_or(-1) : -1;
    rule.high = two ? pair->items[1].number().value_or(-1) : -1;
    if (!(rule.low >= 0 && rule.low <= rule.high && rule.high <= 1))
      return fail(Code::kInvalid, "'band' needs two quantiles between 0 and 1, like q:0.05,0.95");
  } else {
    return fail(Code::kInvalid,
                fmt::format("'band' is '{}', not std, se, minmax, q:a,b or boot95", band));
  }
  return rule;
}

struct Asked {
  query::Question question;
  std::string mark;  // stands for the data the answer is made from
  std::vector<std::shared_ptr<const store::Series>>
      made;  // by expressions; the question borrows them
};

// Every (entry, set) of a grouped question with its members.
Result<void> read_group(const Context& context, const store::Snapshot& snapshot,
                        const JsonValue& group, const std::vector<SeriesEntry>& entries,
                        Asked& asked) {
  query::Question& question = asked.question;
  if (!group.is_object()) return fail(Code::kInvalid, "'group' is not an object");
  if (question.x_is_tag) return fail(Code::kInvalid, "groups have no x of another tag");
  SONDE_TRY(rule, rule_in(group));
  question.rule = rule;
  const JsonValue* sets = group.find("sets");
  if (!sets || !sets->is_array()) return fail(Code::kInvalid, "'group' has no list 'sets'");
  if (sets->items.size() > kMaxSets) return fail(Code::kTooLarge, "too many sets in 'group'");
  for (uint32_t e = 0; e < entries.size(); ++e) {
    for (uint32_t s = 0; s < sets->items.size(); ++s) {
      const JsonValue* runs = sets->items[s].find("runs");
      if (!runs) return fail(Code::kInvalid, fmt::format("set {} of 'group' has no runs", s));
      SONDE_TRY(const members, runs_in(snapshot, *runs));
      query::GroupSet set{e, s, {}};
      const SeriesOfEntry found(entries[e], members, context);
      for (size_t r = 0; r < members.size(); ++r) {
        if (found.of(r)) set.members.push_back({members[r], found.of(r), nullptr, e});
      }
      found.keep(asked.made);
      question.groups.push_back(std::move(set));
    }
  }
  return {};
}

void mark_series(std::string& mark, const query::Item& item) {
  mark += fmt::format("{},{},{};", static_cast<uint32_t>(item.run->id), item.series->revision(),
                      item.x_series ? item.x_series->revision() : 0);
}

Result<Asked> question_of(const Context& context, const store::Snapshot& snapshot,
                          const JsonValue& body) {
  Asked asked;
  query::Question& question = asked.question;
  question.source = source_of(context);
  std::string x_tag;
  if (auto read = read_x(body, question, x_tag); !read) return fail(std::move(read).error());
  if (auto read = read_range(body, question); !read) return fail(std::move(read).error());
  SONDE_TRY(const px, integer_in(body, "px", 640));
  if (px < 1 || px > static_cast<int64_t>(query::kMaxPx))
    return fail(Code::kInvalid, fmt::format("'px' is not between 1 and {}", query::kMaxPx));
  question.px = static_cast<size_t>(px);
  SONDE_TRY(wanted, wanted_in(body));
  question.wanted = wanted;
  SONDE_TRY(smoothing, smoothing_in(body));
  question.smoothing = smoothing;
  SONDE_TRY(view, view_in(body));
  question.view = view;
  SONDE_TRY(const entries, entries_in(snapshot, body));
  if (const JsonValue* group = body.find("group")) {
    if (auto read = read_group(context, snapshot, *group, entries, asked); !read)
      return fail(std::move(read).error());
    for (const auto& set : question.groups) {
      for (const auto& item : set.members) mark_series(asked.mark, item);
    }
    return asked;
  }
  question.items = items_of(entries, context, asked.made);
  for (query::Item& item : question.items) {
    const auto& expression = entries[item.entry].expression;
    item.is_of_all_runs = expression && expression->is_over_runs;
  }
  if (question.x_is_tag) {
    std::erase_if(question.items, [&](query::Item& item) {
      item.x_series = item.run->find(x_tag);
      return !item.x_series || !item.x_series->is_scalar();
    });
  }
  for (const auto& item : question.items) mark_series(asked.mark, item);
  return asked;
}

template <class Fn>
void write_list(JsonWriter& json, std::string_view name, const std::vector<query::Line>& lines,
                Fn&& write) {
  json.key(name).array([&] {
    for (const auto& line : lines) write(line);
  });
}

void write_head(JsonWriter& json, const Context& context, uint64_t revision,
                const query::Picture& picture, std::string_view xscale) {
  const auto& lines = picture.lines;
  State& state = context.services.state();
  json.key("boot").string(context.settings.boot);
  json.key("rev").number(revision);
  json.key("px").number(static_cast<uint64_t>(picture.px));
  json.key("x0").number(picture.x0);
  json.key("x1").number(picture.x1);
  json.key("w").number(picture.w);
  json.key("xscale").string(xscale);
  if (picture.x_rounded) json.key("x_rounded").boolean(true);
  json.key("series").object([&] {
    using Line = query::Line;
    write_list(json, "run", lines, [&](const Line& line) { json.number(line.run); });
    write_list(json, "tag", lines, [&](const Line& line) {
      if (!line.series || line.series->tag().starts_with(kExpression)) return json.null();
      json.number(state.tag_id(line.series->tag(), kind_of(*line.series)));
    });
    write_list(json, "entry", lines, [&](const Line& line) { json.number(line.entry); });
    write_list(json, "n", lines, [&](const Line& line) { json.number(line.n); });
    write_list(json, "total", lines, [&](const Line& line) { json.number(line.total); });
    write_list(json, "exact", lines, [&](const Line& line) { json.number(line.exact ? 1 : 0); });
    write_list(json, "first", lines, [&](const Line& line) { json.number(line.first_wall); });
  });
  bool any = false;
  for (const auto& line : lines) any |= line.sorted;
  if (!any) return;
  json.key("sorted").array([&] {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].sorted) json.number(static_cast<uint64_t>(i));
    }
  });
}

std::vector<const store::Series*> series_of(const query::Question& question) {
  std::vector<const store::Series*> all;
  const auto add = [&](const query::Item& item) {
    all.push_back(item.series);
    if (item.x_series) all.push_back(item.x_series);
  };
  std::ranges::for_each(question.items, add);
  for (const auto& set : question.groups) std::ranges::for_each(set.members, add);
  return all;
}

Answer columns(const Context& context, const Request& request) {
  SONDE_ANSWER(body, object_of(request));
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const asked, question_of(context, *snapshot, body));
  SONDE_ANSWER(const format, text_in(body, "format", "columns"));
  if (format != "columns" && format != "arrow")
    return error({Code::kInvalid, fmt::format("'format' is '{}', not columns or arrow", format)});
  const JsonValue* known = body.find("if");
  const std::string known_etag = known && known->is_string() ? known->text : "";
  std::erase_if(body.members, [](const auto& member) { return member.first == "if"; });
  std::string etag = etag_of(context, asked.mark + to_text(body));
  if (known_etag == etag) return unchanged(snapshot->revision, std::move(etag));

  context.store.prepare(series_of(asked.question));
  SONDE_ANSWER(const picture, query::columns(asked.question, context.pool));
  if (format == "arrow") {
    SONDE_ANSWER(file, columns_arrow(picture, *snapshot));
    Answer answer = columns_answer(snapshot->revision, std::move(file), std::move(etag));
    answer.content_type = kArrowMime;
    return answer;
  }
  const std::string xscale = text_in(body, "xscale", "linear").value_or("linear");
  std::string file = query::column_file(picture.columns, [&](JsonWriter& json) {
    write_head(json, context, snapshot->revision, picture, xscale);
  });
  return columns_answer(snapshot->revision, std::move(file), std::move(etag));
}

// The point of one series nearest to `at`.
struct Nearest {
  bool found = false;
  double x = 0;
  query::Points point;
  double smooth = 0;
};

Nearest nearest_point(const query::SeriesReader& lens, query::Axis axis, double at,
                      const query::Smoothing& smoothing) {
  Nearest nearest;
  uint64_t best = UINT64_MAX;
  double distance = std::numeric_limits<double>::infinity();
  const auto look = [&](uint64_t begin, uint64_t end) {
    query::Points points;
    lens.read(begin, end, points);
    for (size_t i = 0; i < points.size(); ++i) {
      const double d = std::abs(lens.x(axis, points.steps[i], points.walls[i]) - at);
      if (!(d < distance)) continue;
      distance = d;
      best = begin + i;
    }
  };
  if (lens.run(axis).sorted()) {
    const uint64_t here = lens.lower(axis, at);
    look(here > 0 ? here - 1 : 0, std::min(lens.size(), here + 1));
    // The point before may be the last of several with the same x: the first one counts.
    if (best < here && best != UINT64_MAX) {
      query::Points one;
      lens.read(best, best + 1, one);
      const uint64_t first = lens.lower(axis, lens.x(axis, one.steps[0], one.walls[0]));
      best = std::min(best, first);
    }
  } else {
    look(0, lens.size());
  }
  if (best == UINT64_MAX) return nearest;
  nearest.found = true;
  lens.read(best, best + 1, nearest.point);
  nearest.x = lens.x(axis, nearest.point.steps[0], nearest.point.walls[0]);
  if (smoothing.is_on()) nearest.smooth = query::smoothed_at(lens, smoothing, {&best, 1})[0];
  return nearest;
}

Answer nearest(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const asked, question_of(context, *snapshot, body));
  const query::Question& question = asked.question;
  if (question.x_is_tag || question.rule)
    return error({Code::kInvalid, "nearest knows x = step, relative and wall, and no groups"});
  const JsonValue* at = body.find("at");
  if (!at || !at->number() || !std::isfinite(*at->number()))
    return error({Code::kInvalid, "'at' is not a number"});

  std::vector<Nearest> found(question.items.size());
  context.pool.for_each(found.size(), [&](size_t i) {
    const query::Item& item = question.items[i];
    const query::SeriesReader lens(*item.series, {question.source, item.run->id, question.view},
                                   nullptr);
    found[i] = nearest_point(lens, question.axis, *at->number(), question.smoothing);
  });
  State& state = context.services.state();
  std::string text;
  JsonWriter json(text);
  const auto list = [&](std::string_view name, auto&& write) {
    json.key(name).array([&] {
      for (size_t i = 0; i < found.size(); ++i) {
        if (found[i].found) write(question.items[i], found[i]);
      }
    });
  };
  using Item = query::Item;
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    list("run", [&](const Item& item, const Nearest&) {
      json.number(static_cast<uint32_t>(item.run->id));
    });
    list("tag", [&](const Item& item, const Nearest&) {
      json.number(state.tag_id(item.series->tag(), kind_of(*item.series)));
    });
    list("entry", [&](const Item& item, const Nearest&) { json.number(item.entry); });
    list("x", [&](const Item&, const Nearest& n) { json.number(n.x); });
    list("step", [&](const Item&, const Nearest& n) { json.safe_integer(n.point.steps[0]); });
    list("wall", [&](const Item&, const Nearest& n) { json.number(n.point.walls[0]); });
    list("value", [&](const Item&, const Nearest& n) { json.number(n.point.values[0]); });
    if (question.smoothing.is_on())
      list("smooth", [&](const Item&, const Nearest& n) { json.number(n.smooth); });
  });
  return json_answer(context, snapshot->revision, std::move(text));
}

// How many points of all series lie outside of a range of values.
Answer outside(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const asked, question_of(context, *snapshot, body));
  const query::Question& question = asked.question;
  if (question.x_is_tag || question.rule)
    return error({Code::kInvalid, "outside knows x = step, relative and wall, and no groups"});
  const JsonValue *low = body.find("low"), *high = body.find("high");
  if (!low || !low->number() || !high || !high->number() || !(*low->number() <= *high->number()))
    return error({Code::kInvalid, "'low' and 'high' are not two numbers in ascending order"});
  std::vector<query::Outside> found(question.items.size());
  context.pool.for_each(found.size(), [&](size_t i) {
    const query::Item& item = question.items[i];
    const query::SeriesReader lens(*item.series, {question.source, item.run->id, question.view},
                                   nullptr);
    found[i] =
        query::count_outside(lens, question.axis, question.range, *low->number(), *high->number());
  });
  query::Outside all;
  for (const query::Outside& one : found) {
    all.below += one.below;
    all.above += one.above;
  }
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("below").number(all.below);
    json.key("above").number(all.above);
  });
  return json_answer(context, snapshot->revision, std::move(text));
}

constexpr Route kRoutes[] = {{"POST", "/api/v1/columns", columns},
                             {"POST", "/api/v1/nearest", nearest},
                             {"POST", "/api/v1/outside", outside}};

}  // namespace

std::span<const Route> column_routes() { return kRoutes; }

}  // namespace sonde::api::v1
