#include "numerics/torch_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codec/json_read.h"

namespace sonde::numerics {
namespace {

constexpr std::string_view kFormat = "torch.utils._debug_mode.DebugMode.logs";
constexpr size_t kMostLinks = 50;

struct Hash {
  uint8_t bad = kNone;
  std::optional<double> number;
  bool is_there = false;
};

// A value of the log: scalars, and lists and dictionaries of them.
void add_hash(const JsonValue& value, Hash& into) {
  const JsonValue* type = value.find("type");
  if (!type || !type->is_string()) return;
  if (type->text == "nonfinite_float") {
    const JsonValue* what = value.find("value");
    if (!what || !what->is_string()) return;
    into.is_there = true;
    into.bad |= what->text == "nan" ? kNan : what->text.starts_with('-') ? kNegInf : kPosInf;
  } else if (type->text == "scalar") {
    const JsonValue* what = value.find("value");
    if (!what || !what->is_number()) return;
    into.is_there = true;
    if (!into.number) into.number = what->number();
  } else if (const JsonValue* items = value.find("items")) {
    for (const JsonValue& item : items->items) {
      if (item.is_array() && item.items.size() == 2) {  // of a dictionary
        add_hash(item.items[1], into);
      } else {
        add_hash(item, into);
      }
    }
  }
}

Hash hash_of(const JsonValue& log, std::string_view name) {
  Hash hash;
  const JsonValue* items = log.find("items");
  for (size_t i = 0; items && i < items->items.size(); ++i) {
    const JsonValue& pair = items->items[i];
    if (pair.items.size() == 2 && pair.items[0].text == name) add_hash(pair.items[1], hash);
  }
  return hash;
}

// The innermost frame of the user's own in a traceback as Python prints it.
Place place_in(std::string_view traceback) {
  Place place;
  constexpr std::string_view kFile = "  File \"";
  for (size_t at = 0; at < traceback.size();) {
    const size_t end = std::min(traceback.find('\n', at), traceback.size());
    const std::string_view line = traceback.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(kFile)) continue;
    const size_t quote = line.find('"', kFile.size());
    const size_t number = line.find(", line ", kFile.size());
    if (quote == line.npos || number == line.npos || number < quote) continue;
    const std::string_view path = line.substr(kFile.size(), quote - kFile.size());
    if (is_library_path(path)) continue;
    int64_t value = 0;
    size_t digit = number + 7;
    for (; digit < line.size() && line[digit] >= '0' && line[digit] <= '9' && value < 1'000'000'000;
         ++digit)
      value = value * 10 + (line[digit] - '0');
    const size_t in = line.find(", in ", digit);
    place = {std::string(path), in == line.npos ? "" : std::string(line.substr(in + 5)), value};
  }
  return place;
}

std::string text_of(const JsonValue& call, std::string_view name) {
  const JsonValue* value = call.find(name);
  return value && value->is_string() ? value->text : std::string();
}

// Ops that write infinity because they are told to.
bool is_told(std::string_view op) {
  for (const std::string_view name :
       {"aten::full", "aten::fill_", "aten::scalar_tensor", "aten::masked_fill", "aten::new_full",
        "aten::lift_fresh", "aten::where", "aten::empty"}) {
    if (op.starts_with(name)) return true;
  }
  return false;
}

std::string short_name(std::string_view op) {
  if (op.starts_with("aten::")) op.remove_prefix(6);
  return std::string(op.substr(0, op.find('.')));
}

Link link_of(const LoggedCall& call) {
  Link link;
  link.op_type = short_name(call.op);
  link.op_name = call.module.empty() ? call.op : call.module + "/" + call.op;
  link.where = call.where;
  link.health.bad = call.bad;
  return link;
}

}  // namespace

bool is_torch_log(std::string_view text) { return text.substr(0, 256).find(kFormat) != text.npos; }

Result<TorchLog> parse_torch_log(std::string_view text) {
  SONDE_TRY(document, read_json(text));
  if (text_of(document, "format") != kFormat)
    return fail(Code::kInvalid, "no log of torch's DebugMode: its format has another name");
  const JsonValue* version = document.find("version");
  if (!version || version->integer().value_or(0) != 1)
    return fail(Code::kInvalid, "a log of torch's DebugMode in a version that is not known (1 is)");
  const JsonValue* logs = document.find("logs");
  if (!logs || !logs->is_array())
    return fail(Code::kInvalid, "a log of torch's DebugMode without a list of calls");
  TorchLog log;
  std::vector<std::pair<int64_t, std::string>> modules;  // depth and name
  for (const JsonValue& call : logs->items) {
    const JsonValue* depth_value = call.find("call_depth");
    const int64_t depth = depth_value ? depth_value->integer().value_or(0) : 0;
    while (!modules.empty() && modules.back().first >= depth) modules.pop_back();
    const std::string type = text_of(call, "type");
    if (type == "annotate") {
      if (text_of(call, "header") == "nn.Mod" && modules.size() < 1000)
        modules.emplace_back(depth, text_of(call, "tag"));
      continue;
    }
    LoggedCall one;
    one.op = type == "triton_kernel" ? text_of(call, "kernel_name") : text_of(call, "op_name");
    if (one.op.empty()) continue;  // movements of distributed tensors
    one.output = text_of(call, "output_str");
    if (!modules.empty()) one.module = modules.back().second;
    const std::string forward = text_of(call, "fwd_stack_trace");
    one.where = place_in(forward.empty() ? text_of(call, "stack_trace") : forward);
    if (const JsonValue* noted = call.find("log")) {
      const Hash out = hash_of(*noted, "hash"), in = hash_of(*noted, "input_hash");
      one.bad = out.bad;
      one.bad_input = in.bad;
      one.has_hash = out.is_there;
      if (out.bad == kNone) one.norm = out.number;
    }
    log.hashed += one.has_hash;
    log.calls.push_back(std::move(one));
  }
  return log;
}

std::optional<Fault> first_fault(const TorchLog& log) {
  std::optional<size_t> made;
  for (size_t i = 0; i < log.calls.size() && !made; ++i) {
    const LoggedCall& call = log.calls[i];
    const bool is_infinite_only = (call.bad & kNan) == 0;
    if (call.bad != kNone && !(is_infinite_only && is_told(call.op)) &&
        (call.bad_input == kNone || (call.bad & ~call.bad_input & kNan) != 0))
      made = i;
  }
  FaultKind kind = FaultKind::kMade;
  if (!made) {  // it came in from outside
    const auto found = std::find_if(log.calls.begin(), log.calls.end(),
                                    [](const LoggedCall& call) { return (call.bad & kNan) != 0; });
    if (found == log.calls.end()) return std::nullopt;
    made = static_cast<size_t>(found - log.calls.begin());
    kind = FaultKind::kEntered;
  }
  Fault fault;
  fault.kind = kind;
  fault.bad = log.calls[*made].bad;
  fault.chain.push_back(link_of(log.calls[*made]));
  for (size_t i = *made + 1; i < log.calls.size(); ++i) {
    if (log.calls[i].bad == kNone) continue;
    ++fault.followers;
    if (fault.chain.size() < kMostLinks) fault.chain.push_back(link_of(log.calls[i]));
  }
  return fault;
}

std::string healthy_sentence(const TorchLog& log) {
  if (log.hashed == 0)
    return fmt::format(
        "{} calls, and no norms of what they gave: record with "
        "DebugMode.log_tensor_hashes(hash_fn=\"norm\", hash_inputs=True)",
        log.calls.size());
  return fmt::format("No NaN and no infinity that an op made, in {} calls", log.hashed);
}

std::string first_difference(const TorchLog& a, const TorchLog& b, double tolerance) {
  const size_t both = std::min(a.calls.size(), b.calls.size());
  const auto place = [](const LoggedCall& call) {
    return call.where.is_known() ? " at " + call.where.text() : std::string();
  };
  for (size_t i = 0; i < both; ++i) {
    const LoggedCall &one = a.calls[i], &other = b.calls[i];
    if (one.op != other.op)
      return fmt::format("The programs part at call {}: `{}`{} and `{}`{}", i + 1, one.op,
                         place(one), other.op, place(other));
    if (one.bad != other.bad)
      return fmt::format("First difference: `{}`{}, call {}: {}", short_name(one.op), place(one),
                         i + 1,
                         one.bad != kNone ? "not finite in the first log only"
                                          : "not finite in the second log only");
    if (!one.norm || !other.norm) continue;
    const double size = std::max(std::fabs(*one.norm), std::fabs(*other.norm));
    if (std::fabs(*one.norm - *other.norm) > tolerance * size)
      return fmt::format("First difference: `{}`{}, call {}: its norm is {:.6g} and {:.6g}",
                         short_name(one.op), place(one), i + 1, *one.norm, *other.norm);
  }
  if (a.calls.size() != b.calls.size())
    return fmt::format("The first {} calls agree; then one log ends ({} and {} calls)", both,
                       a.calls.size(), b.calls.size());
  return {};
}

}  // namespace sonde::numerics
