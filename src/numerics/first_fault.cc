#include "numerics/first_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace sonde::numerics {
namespace {

constexpr size_t kMostWalk = 10'000;   // ops on the way up
constexpr size_t kMostChain = 50;      // ops on the way down
constexpr size_t kMostTried = 20'000;  // bad tensors that turn out to be masks
constexpr size_t kMostScans = 8;       // steps found by looking at every row
constexpr size_t kMostBack = 10'000;   // executions searched for an input

// 0 finite, 1 infinite, 2 NaN.
int level(uint8_t bad) { return (bad & (kNan | kSome)) != 0 ? 2 : bad != kNone ? 1 : 0; }

template <size_t N>
bool is_one_of(std::string_view type, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

bool is_input(std::string_view type) {
  return is_one_of<6>(type, {"Placeholder", "PlaceholderWithDefault", "_Arg", "Input",
                             "IteratorGetNext", "OneShotIterator"});
}
bool is_parameter(std::string_view type) {
  return is_one_of<5>(type,
                      {"ReadVariableOp", "VarHandleOp", "VariableV2", "Parameter", "Resource"});
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

std::string_view word_of(uint8_t bad) {
  if ((bad & kNan) != 0) return "NaN";
  if ((bad & kSome) != 0) return "NaN or infinity";
  return "infinity";
}

class Finder {
 public:
  Finder(const Dump& dump, const Data& data) : dump_(dump), data_(data), reader_(dump) {}

  std::optional<Fault> find() {
    has_steps_ = !dump_.files().framework.empty();
    std::optional<Fault> best = among_traces();
    if (auto eager = among_executions(best ? best->wall_time : HUGE_VAL)) best = std::move(eager);
    if (!has_steps_) return best;
    if (best && best->kind == FaultKind::kMade) {
      // What an update blew up before is the cause, the overflow only its first sign.
      if (auto cause = exploded_parameter(*best)) return cause;
    }
    return best ? std::move(best) : dead_or_exploding();
  }

 private:
  static uint64_t key(uint32_t op, int64_t slot) {
    return uint64_t{op} << 16 | (static_cast<uint64_t>(slot) & 0xffff);
  }

  // The bad rows, first one first.
  std::vector<uint32_t> candidates() const {
    std::vector<uint32_t> bad;
    for (size_t i = 0; i < data_.traces.size(); ++i) {
      if (data_.traces[i].bad != kNone) bad.push_back(static_cast<uint32_t>(i));
    }
    // sonde.debug writes the replay of a bad step behind what its hooks saw: it knows more.
    const auto rank = [&](uint32_t i) {
      const TraceRow& row = data_.traces[i];
      const double first = has_steps_ ? static_cast<double>(row.step) : row.wall_time;
      return std::tuple(first, is_replay(row) ? 0 : 1, i);
    };
    std::sort(bad.begin(), bad.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
    return bad;
  }

  bool is_replay(const TraceRow& row) const {
    if (!has_steps_) return false;
    const Graph* graph = data_.graph(data_.texts.text(data_.traced[row.traced].context));
    return graph && graph->name.starts_with("replay");
  }

  // A constant, or a mask of −∞ that comes in from outside.
  bool is_meant(const TraceRow& row) const {
    const std::string_view type = type_of(op_of(row));
    return is_constant_type(type) || (is_input(type) && row.bad == kNegInf);
  }

  const Op* op_of(const TraceRow& row) const { return data_.op(data_.traced[row.traced]); }
  uint32_t index_of(const Op* op) const { return static_cast<uint32_t>(op - data_.ops.data()); }
  std::string_view type_of(const Op* op) const {
    return op ? data_.texts.text(op->type) : std::string_view();
  }

  std::pair<uint32_t, uint32_t> step_key(size_t i) const {
    return {data_.traced[data_.traces[i].traced].file, data_.traces[i].step};
  }

  // Rows of one step of one file by op and slot.
  void index_step(const TraceRow& row) {
    const uint32_t file = data_.traced[row.traced].file;
    if (step_ == row.step && file_ == file && !rows_.empty()) return;
    step_ = row.step;
    file_ = file;
    rows_.clear();
    const auto add = [&](size_t i) {
      const TraceRow& other = data_.traces[i];
      if (const Op* op = op_of(other))
        rows_.emplace(key(index_of(op), data_.traced[other.traced].slot), i);
    };
    const std::pair wanted(file_, step_);
    if (++steps_indexed_ <= kMostScans) {
      for (size_t i = 0; i < data_.traces.size(); ++i) {
        if (step_key(i) == wanted) add(i);
      }
      return;
    }
    if (by_step_.empty()) {  // many steps are asked for: sort once
      by_step_.resize(data_.traces.size());
      std::iota(by_step_.begin(), by_step_.end(), 0U);
      std::stable_sort(by_step_.begin(), by_step_.end(),
                       [&](uint32_t a, uint32_t b) { return step_key(a) < step_key(b); });
    }
    auto at =
        std::lower_bound(by_step_.begin(), by_step_.end(), wanted,
                         [&](uint32_t i, const auto& sought) { return step_key(i) < sought; });
    for (; at != by_step_.end() && step_key(*at) == wanted; ++at) add(*at);
  }

  // The row that an input of `op` has in the step, or nothing.
  std::optional<size_t> input_row(const Op& op, size_t input) const {
    const auto& [name, slot] = op.inputs[input];
    const Graph& graph = data_.graphs[op.graph];
    const auto found = graph.ops.find(name);
    if (found == graph.ops.end()) return std::nullopt;
    const auto row = rows_.find(key(found->second, slot));
    if (row == rows_.end()) return std::nullopt;
    return row->second;
  }

  std::optional<Fault> among_traces() {
    std::unordered_set<size_t> seen;
    std::unordered_set<uint32_t> masks;                   // tensors that are infinite on purpose
    std::set<std::pair<uint32_t, uint32_t>> meant_steps;  // their replay holds masks only
    size_t tried = 0;
    for (const size_t first : candidates()) {
      const TraceRow& start = data_.traces[first];
      // A mask is written in every step: one look at each of its tensors is enough.
      if (seen.contains(first) || (level(start.bad) < 2 && masks.contains(start.traced))) continue;
      // What hooks saw of a module, where the replay of the step found masks only.
      if (level(start.bad) < 2 && meant_steps.contains(step_key(first)) && !is_replay(start)) {
        masks.insert(start.traced);
        continue;
      }
      if (++tried > kMostTried) break;
      index_step(data_.traces[first]);
      std::vector<size_t> path{first};
      while (path.size() < kMostWalk) {
        seen.insert(path.back());
        const Op* op = op_of(data_.traces[path.back()]);
        std::optional<size_t> up;
        for (size_t i = 0; op && i < op->inputs.size(); ++i) {
          const auto row = input_row(*op, i);
          if (!row || data_.traces[*row].bad == kNone ||
              std::find(path.begin(), path.end(), *row) != path.end())
            continue;
          // Of several bad inputs the worse, then the earlier.
          const auto rank = [&](size_t r) {
            return std::pair(-level(data_.traces[r].bad), static_cast<int64_t>(r));
          };
          if (!up || rank(*row) < rank(*up)) up = row;
        }
        if (!up) break;
        path.push_back(*up);
      }
      if (is_meant(data_.traces[path.back()])) {
        // Written on purpose, unless something on the way made a NaN of it.
        while (path.size() > 1 && level(data_.traces[path.back()].bad) < 2) {
          masks.insert(data_.traces[path.back()].traced);
          path.pop_back();
        }
        if (level(data_.traces[path.back()].bad) < 2 ||
            is_constant_type(type_of(op_of(data_.traces[path.back()])))) {
          if (level(start.bad) < 2) masks.insert(start.traced);
          if (is_replay(start)) meant_steps.insert(step_key(first));
          continue;
        }
      }
      return fault_at(path.back());
    }
    return std::nullopt;
  }

  Place place_of(const Op& op) const {
    std::vector<std::string_view> ids;
    for (const uint32_t id : op.frame_ids) ids.push_back(data_.texts.text(id));
    return user_place(data_, ids);
  }

  // TensorFlow names what a tape adds "gradient_tape/" and the forward op, or the place it stands
  // in; its own frames lead to the line that asks for the gradient only.
  const Op* forward_of(const Op& op) const {
    constexpr std::string_view kTape = "gradient_tape/";
    const size_t tape = op.name.find(kTape);
    if (tape == op.name.npos) return nullptr;
    const std::string rest = op.name.substr(0, tape) + op.name.substr(tape + kTape.size());
    const std::string scope = rest.substr(0, rest.rfind('/') == rest.npos ? 0 : rest.rfind('/'));
    if (const Op* same = scope.empty() ? nullptr : data_.op(data_.graphs[op.graph].id, scope))
      return same;
    const std::string_view type = data_.texts.text(op.type);
    const Op* beside = nullptr;
    for (const auto& [name, slot] : op.inputs) {
      const Op* input = data_.op(data_.graphs[op.graph].id, name);
      if (!input || name.find(kTape) != name.npos) continue;
      const size_t cut = name.rfind('/');
      if (name.substr(0, cut == name.npos ? 0 : cut) != scope) continue;
      if (type.starts_with(data_.texts.text(input->type))) return input;  // SqrtGrad of Sqrt
      if (!beside) beside = input;
    }
    return beside;
  }

  Link link_of(size_t row_index) {
    const TraceRow& row = data_.traces[row_index];
    const Traced& traced = data_.traced[row.traced];
    Link link;
    link.op_name = data_.texts.text(traced.op_name);
    link.trace = static_cast<int64_t>(row_index);
    if (const Op* op = op_of(row)) {
      link.op_type = type_of(op);
      link.where = place_of(*op);
      if (const Op* forward = forward_of(*op)) {
        if (Place place = place_of(*forward); place.is_known()) link.where = std::move(place);
      }
    }
    if (auto detail = reader_.trace(traced.file, row.offset)) {
      link.health = std::move(detail->health);
      link.numbers = detail->numbers;
    }
    return link;
  }

  Fault fault_at(size_t made) {
    const TraceRow& row = data_.traces[made];
    Fault fault;
    fault.bad = row.bad;
    fault.step = row.step;
    fault.has_steps = has_steps_;
    fault.wall_time = row.wall_time;
    const FileSet& set = dump_.files().sets[data_.traced[row.traced].file];
    fault.host = set.host;
    fault.rank = set.rank;
    const Op* op = op_of(row);
    if (op && is_input(type_of(op))) fault.kind = FaultKind::kEntered;
    if (op && is_parameter(type_of(op))) fault.kind = FaultKind::kHeld;
    // The inputs it had, the one that explains it last.
    std::vector<Link> inputs;
    for (size_t i = 0; op && i < op->inputs.size() && inputs.size() < kMostChain; ++i) {
      if (const auto input = input_row(*op, i)) inputs.push_back(link_of(*input));
    }
    fault.chain = inputs;
    fault.at = fault.chain.size();
    fault.chain.push_back(link_of(made));
    fault.reached = reached(lower(type_of(op)), inputs);
    // Down to the end: the first bad consumer of each.
    size_t at = made;
    std::unordered_set<size_t> seen{made};
    while (fault.chain.size() < fault.at + kMostChain) {
      const Op* source = op_of(data_.traces[at]);
      if (!source) break;
      const Graph& graph = data_.graphs[source->graph];
      const auto consumers = graph.consumers.find(source->name);
      std::optional<size_t> next;
      for (size_t i = 0; consumers != graph.consumers.end() && i < consumers->second.size(); ++i) {
        for (int64_t slot = 0; slot < 4; ++slot) {
          const auto found = rows_.find(key(consumers->second[i].op, slot));
          if (found == rows_.end() || data_.traces[found->second].bad == kNone) continue;
          if (seen.contains(found->second)) continue;
          if (!next || found->second < *next) next = found->second;
        }
      }
      if (!next) break;
      at = *next;
      seen.insert(at);
      fault.chain.push_back(link_of(at));
    }
    const uint32_t context = data_.traced[row.traced].context;
    for (size_t i = 0; i < data_.traces.size(); ++i) {
      const TraceRow& other = data_.traces[i];
      const Traced& traced = data_.traced[other.traced];
      if (i != made && other.bad != kNone && other.step == row.step &&
          traced.file == data_.traced[row.traced].file && traced.context == context)
        ++fault.followers;
    }
    return fault;
  }

  // "from `x`, which reached 0.0", by what the op cannot stand.
  static std::string reached(const std::string& type, const std::vector<Link>& inputs) {
    const bool hates_zero = type.find("div") != type.npos || type.find("reciprocal") != type.npos ||
                            type.find("rsqrt") != type.npos || type == "pow" ||
                            type.find("norm") != type.npos || type.find("update") != type.npos;
    const bool hates_high = type.find("exp") != type.npos || type.find("sinh") != type.npos;
    const bool hates_low = type.find("log") != type.npos || type.find("sqrt") != type.npos;
    const auto text = [](const Link& input, const std::string& what) {
      return fmt::format("from `{}`, which {}", input.op_name, what);
    };
    const auto value = [](double number) {
      return number == 0 ? std::string("0.0") : fmt::format("{:.4g}", number);
    };
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
      const Health& health = input->health;
      if (hates_low && input->numbers && input->numbers->min <= 0)
        return text(*input, "reached " + value(static_cast<double>(input->numbers->min)));
      if (hates_low && health.negative > 0)
        return text(*input, fmt::format("held {} negative value{}", health.negative,
                                        health.negative == 1 ? "" : "s"));
      if ((hates_low || hates_zero) && health.zero > 0) return text(*input, "reached 0.0");
    }
    const Link* largest = nullptr;
    double size = -1;
    for (const Link& input : inputs) {
      if (!input.numbers || level(input.health.bad) > 0) continue;
      const double high = static_cast<double>(input.numbers->max);
      const double own = hates_high ? high
                                    : std::max(std::fabs(static_cast<double>(input.numbers->min)),
                                               std::fabs(high));
      if (own > size) {
        size = own;
        largest = &input;
      }
    }
    if (largest) {
      const bool is_low =
          !hates_high && std::fabs(largest->numbers->min) > std::fabs(largest->numbers->max);
      return text(*largest,
                  "reached " + value(static_cast<double>(is_low ? largest->numbers->min
                                                                : largest->numbers->max)));
    }
    for (const Link& input : inputs) {
      if (level(input.health.bad) > 0) return text(input, "held infinities");
    }
    const auto told = std::find_if(inputs.rbegin(), inputs.rend(), [](const Link& input) {
      return !is_constant_type(input.op_type);
    });
    if (told != inputs.rend()) return fmt::format("from `{}`", told->op_name);
    return {};
  }

  // Eager ops: the first bad one, with the executions that made its inputs.
  std::optional<Fault> among_executions(double before) {
    for (size_t i = 0; i < data_.executions.size(); ++i) {
      const ExecutionRow& row = data_.executions[i];
      if (row.wall_time >= before) break;
      if (row.bad == kNone) continue;
      const auto detail = reader_.execution(row.offset);
      if (!detail) continue;
      Fault fault;
      fault.bad = row.bad;
      fault.step = row.step;
      fault.has_steps = row.step >= 0;
      fault.wall_time = row.wall_time;
      fault.host = dump_.files().sets.front().host;
      fault.rank = dump_.files().sets.front().rank;
      std::vector<Link> inputs;
      for (const int64_t id : detail->input_ids) {
        if (auto input = execution_making(id, i)) inputs.push_back(std::move(*input));
      }
      fault.chain = inputs;
      fault.at = fault.chain.size();
      fault.chain.push_back(link_of(i, row, *detail));
      fault.reached = reached(lower(data_.texts.text(row.op_type)), inputs);
      for (size_t j = i + 1; j < data_.executions.size(); ++j)
        fault.followers += data_.executions[j].bad != kNone;
      return fault;
    }
    return std::nullopt;
  }

  Link link_of(size_t index, const ExecutionRow& row, const ExecutionDetail& detail) {
    Link link;
    link.op_type = link.op_name = data_.texts.text(row.op_type);
    link.execution = static_cast<int64_t>(index);
    std::vector<std::string_view> ids(detail.frame_ids.begin(), detail.frame_ids.end());
    link.where = user_place(data_, ids);
    if (!detail.health.empty()) link.health = detail.health.front();
    return link;
  }

  std::optional<Link> execution_making(int64_t tensor, size_t before) {
    for (size_t back = 0; back < kMostBack && back < before; ++back) {
      const size_t i = before - 1 - back;
      const ExecutionRow& row = data_.executions[i];
      const auto detail = reader_.execution(row.offset);
      if (!detail) continue;
      if (std::find(detail->output_ids.begin(), detail->output_ids.end(), tensor) !=
          detail->output_ids.end())
        return link_of(i, row, *detail);
    }
    return std::nullopt;
  }

  std::optional<Fault> exploded_parameter(const Fault& sign) {
    constexpr float kGrowth = 1e3f;
    std::unordered_map<uint32_t, float> first;
    for (size_t i = 0; i < data_.traces.size(); ++i) {
      const TraceRow& row = data_.traces[i];
      if (int64_t{row.step} > sign.step || is_replay(row) || std::isnan(row.rms)) continue;
      if (type_of(op_of(row)) != "Parameter") continue;
      const float before = first.emplace(row.traced, row.rms).first->second;
      if (before > 0 && row.rms > kGrowth * before) {
        Fault fault = exploded_at(i, before);
        fault.reached +=
            fmt::format("; the first {} followed in `{}` at {}, step {}", word_of(sign.bad),
                        sign.link().op_type, sign.link().where.text(), sign.step);
        return fault;
      }
    }
    return std::nullopt;
  }

  Fault exploded_at(size_t i, float before) {
    const TraceRow& row = data_.traces[i];
    index_step(row);
    Fault fault = fault_at(i);
    fault.kind = FaultKind::kExploded;
    fault.followers = 0;
    fault.reached =
        fmt::format("its values grew {:.2g} times, to an rms of {:.3g}",
                    static_cast<double>(row.rms / before), static_cast<double>(row.rms));
    return fault;
  }

  // Of dumps with steps: a tensor that grew beyond measure, or units that only give zeros.
  std::optional<Fault> dead_or_exploding() {
    struct Series {
      float first = 0;        // rms when it was first seen
      uint32_t dead = 0;      // times in a row that it was all zero
      size_t dead_since = 0;  // row
    };
    constexpr float kGrowth = 1e4f;
    constexpr uint32_t kDeadTimes = 3;
    std::unordered_map<uint32_t, Series> all;
    std::optional<size_t> exploded;
    for (size_t i = 0; i < data_.traces.size(); ++i) {
      const TraceRow& row = data_.traces[i];
      Series& series = all[row.traced];
      if (row.zeros == 1) {
        if (series.dead++ == 0) series.dead_since = i;
      } else if (!std::isnan(row.zeros)) {
        series.dead = 0;
      }
      if (std::isnan(row.rms)) continue;
      if (series.first == 0) series.first = row.rms;
      if (!exploded && series.first > 0 && row.rms > kGrowth * series.first && row.rms > 100)
        exploded = i;
    }
    const auto make = [&](size_t i, FaultKind kind) {
      index_step(data_.traces[i]);
      Fault fault = fault_at(i);
      fault.kind = kind;
      fault.followers = 0;
      return fault;
    };
    if (exploded) return exploded_at(*exploded, all[data_.traces[*exploded].traced].first);
    std::optional<size_t> dead;
    for (const auto& [traced, series] : all) {
      if (series.dead < kDeadTimes) continue;
      const std::string type = lower(type_of(data_.op(data_.traced[traced])));
      if (type.find("relu") == type.npos && type.find("gelu") == type.npos) continue;
      if (!dead || series.dead_since < *dead) dead = series.dead_since;
    }
    if (dead) return make(*dead, FaultKind::kDead);
    return std::nullopt;
  }

  const Dump& dump_;
  const Data& data_;
  DetailReader reader_;
  bool has_steps_ = false;
  uint32_t step_ = 0, file_ = 0;
  size_t steps_indexed_ = 0;
  std::vector<uint32_t> by_step_;  // rows by file and step
  std::unordered_map<uint64_t, size_t> rows_;
};

}  // namespace

bool is_constant_type(std::string_view type) {
  return is_one_of<6>(type, {"Const", "Constant", "constant", "HostConst", "literal", "Fill"});
}

bool is_library_path(std::string_view path) {
  for (const std::string_view mark : {"site-packages", "dist-packages", "/lib/python3", "<frozen",
                                      "<string>", "<eval_with_key>"}) {
    if (path.find(mark) != path.npos) return true;
  }
  return path.starts_with('<');
}

std::string Place::text() const {
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

Place user_place(const Data& data, const std::vector<std::string_view>& frame_ids) {
  for (auto id = frame_ids.rbegin(); id != frame_ids.rend(); ++id) {
    const auto found = data.frames.find(std::string(*id));
    if (found == data.frames.end() || found->second.source >= data.sources.size()) continue;
    const std::string& path = data.sources[found->second.source].path;
    if (is_library_path(path)) continue;
    return {path, found->second.function, found->second.line};
  }
  return {};
}

std::optional<Fault> first_fault(const Dump& dump) {
  const auto data = dump.view();
  return Finder(dump, *data).find();
}

std::string sentence(const Fault& fault) {
  const Link& link = fault.link();
  const std::string name = link.op_type.empty() ? link.op_name : link.op_type;
  std::string out;
  const std::string word(word_of(fault.bad));
  switch (fault.kind) {
    case FaultKind::kMade:
      out = fmt::format("First {}: `{}`", word, name);
      break;
    case FaultKind::kEntered:
      out = fmt::format("First {}: the input `{}`", word, link.op_name);
      break;
    case FaultKind::kHeld:
      out = fmt::format("First {}: the parameter `{}`", word, link.op_name);
      break;
    case FaultKind::kExploded:
      out = fmt::format("Explosion: `{}`", link.op_name);
      break;
    case FaultKind::kDead:
      out = fmt::format("Dead units: `{}`", link.op_name);
      break;
  }
  if (link.where.is_known()) out += " at " + link.where.text();
  if (fault.has_steps && fault.step >= 0) {
    out += fmt::format(" in step {}", fault.step);
  } else if (fault.step >= 0) {
    out += fmt::format(" in its run {}", fault.step + 1);
  }
  if (fault.rank >= 0) out += fmt::format(" (rank {})", fault.rank);
  if (fault.kind == FaultKind::kDead) return out + ": every value is zero from there on";
  if (fault.kind == FaultKind::kExploded) return out + ": " + fault.reached;
  if (fault.kind == FaultKind::kMade && !fault.reached.empty()) out += ", " + fault.reached;
  if (fault.followers > 0)
    out += fmt::format("; {} tensor{} followed{}", fault.followers, fault.followers == 1 ? "" : "s",
                       fault.has_steps || link.trace >= 0 ? " within the step" : "");
  return out;
}

std::string advice(const Fault& fault) {
  const std::string type = lower(fault.link().op_type);
  const auto has = [&](std::string_view part) { return type.find(part) != type.npos; };
  if (fault.kind == FaultKind::kEntered)
    return "The data already held it: check the batch before the step, or drop such rows.";
  if (fault.kind == FaultKind::kHeld)
    return "It was there before the step: check the initialisation, the checkpoint or the last "
           "update.";
  if (fault.kind == FaultKind::kExploded) return "Lower the learning rate, or clip the gradients.";
  if (fault.kind == FaultKind::kDead)
    return "Check the bias and the scale of the layer before it; a leaky activation keeps a "
           "gradient.";
  const Health* input = fault.at > 0 ? &fault.chain[fault.at - 1].health : nullptr;
  if (has("log") && !has("softmax"))
    return "Keep the input above zero: add a small eps or clamp it, or use a form that takes "
           "logits.";
  if (has("div") || has("reciprocal")) return "Keep the divisor away from zero: add a small eps.";
  if (has("sqrt") || has("norm"))
    return "Add a small eps inside the root: its slope at zero is infinite.";
  if (has("exp") || has("cosh") || has("sinh"))
    return "Subtract the maximum before the exponential, or clamp its input.";
  if (has("softmax") && input && level(input->bad) > 0)
    return "A row is masked in every place: leave one place open, or use a large negative number.";
  if (input && input->dtype == 19)  // DT_HALF
    return "float16 ends at 65504: scale the loss, or compute this op in float32.";
  if (has("mm") || has("matmul") || has("mul") || has("linear") || has("conv") || has("add"))
    return "Its inputs were too large for the type: clip the gradients, lower the learning rate, "
           "or normalise before it.";
  return {};
}

std::string healthy_sentence(const Data& data) {
  return fmt::format(
      "No NaN and no infinity that an op made, in {} traced tensors and {} executions",
      data.traces.size(), data.executions.size());
}

}  // namespace sonde::numerics
