#include "capture/analysis/pytorch/collectives.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <map>
#include <tuple>

namespace sonde::capture::pytorch {
namespace {

int64_t bytes_of_type(std::string_view type) {
  if (type == "long int" || type == "Long" || type == "double" || type == "Double") return 8;
  if (type == "float" || type == "int" || type == "Float" || type == "Int") return 4;
  if (type == "c10::Half" || type == "c10::BFloat16" || type == "Half" || type == "BFloat16")
    return 2;
  if (type == "unsigned char" || type == "Byte" || type == "Char" || type == "Bool") return 1;
  return 0;
}

// Product of each list of "[[2, 3], [4]]" times the size of its type in ["float", "int"].
int64_t size_from_shapes(std::string_view dims, std::string_view types) {
  int64_t sum = 0;
  size_t at = 0;
  for (size_t i = 1; i < dims.size();) {
    const size_t open = dims.find('[', i);
    if (open == std::string_view::npos) break;
    const size_t close = dims.find(']', open);
    if (close == std::string_view::npos) break;
    int64_t product = 1;
    for (size_t k = open + 1; k < close;) {
      int64_t number = 0;
      const auto result = std::from_chars(dims.data() + k, dims.data() + close, number);
      if (result.ec == std::errc() && number >= 0 && number < (1LL << 40) &&
          product < (1LL << 40) / std::max<int64_t>(1, number))
        product *= number;
      k = result.ec == std::errc() ? static_cast<size_t>(result.ptr - dims.data()) + 1 : k + 1;
    }
    const size_t quote = types.find('"', at);
    const size_t end = quote == std::string_view::npos ? quote : types.find('"', quote + 1);
    if (end == std::string_view::npos) break;
    sum += product * bytes_of_type(types.substr(quote + 1, end - quote - 1));
    at = end + 1;
    i = close + 1;
  }
  return sum;
}

void read_arguments(const Capture& c, trace::SliceId s, Collective& out) {
  const trace::ArgRange args = c.trace.args(s);
  if (const auto group = c.trace.find(args, c.words.group_name))
    out.group = c.trace.printed(*group);
  if (const auto sequence = c.trace.find(args, c.words.sequence); sequence && sequence->is_number())
    out.sequence = sequence->as_int();
  if (out.bytes > 0) return;
  const std::string_view dims = c.trace.text_of(c.trace.find(args, c.words.input_dims));
  const std::string_view types = c.trace.text_of(c.trace.find(args, c.words.input_type));
  if (!dims.empty()) out.bytes = size_from_shapes(dims, types);
  const auto elements = c.trace.find(args, c.words.elements_in);
  if (out.bytes == 0 && elements && elements->is_number())
    out.bytes = std::max<int64_t>(0, elements->as_int()) *
                bytes_of_type(c.trace.text_of(c.trace.find(args, c.words.dtype)));
}

// The host call around a node: the outermost nccl: or gloo: annotation or operator.
uint32_t call_around(const Capture& c, uint32_t node) {
  for (int depth = 0; node != kNone && depth < 64; node = c.nodes[node].parent, ++depth) {
    if (c.words.of(c.trace, c.nodes[node].slice).is_communication) return node;
  }
  return kNone;
}

int32_t step_of(const Capture& c, Range call) {
  for (size_t i = 0; i < c.steps.size(); ++i) {
    if (call.begin >= c.steps[i].extent.begin && call.end <= c.steps[i].extent.end)
      return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

std::vector<Collective> collectives_of(const Capture& c) {
  std::vector<Collective> out;
  boost::unordered_flat_map<uint32_t, size_t> by_node;
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    const Node& node = c.nodes[n];
    if (node.merged || !c.words.of(c.trace, node.slice).is_communication) continue;
    if (node.parent != kNone && call_around(c, node.parent) != kNone) continue;
    by_node.emplace(n, out.size());
    Collective& call = out.emplace_back();
    call.name = c.name_of(node);
    call.call = {node.begin, node.end};
    call.ranges.push_back(call.call);
    call.slices.push_back(node.slice);
    read_arguments(c, node.slice, call);
  }
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel || !event.is_communication) continue;
    const uint32_t node = call_around(c, event.node);
    const auto found = by_node.find(node);
    if (found != by_node.end()) {
      out[found->second].ranges.push_back({event.begin, event.end});
      out[found->second].slices.push_back(event.slice);
      read_arguments(c, event.slice, out[found->second]);
      continue;
    }
    Collective& call = out.emplace_back();
    call.name = c.trace.name(event.slice);
    call.call = {event.begin, event.end};
    call.ranges.push_back(call.call);
    call.slices.push_back(event.slice);
    read_arguments(c, event.slice, call);
  }
  const auto earlier = [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  for (Collective& call : out) {
    std::stable_sort(call.ranges.begin(), call.ranges.end(), earlier);
    call.step = step_of(c, call.call);
  }
  std::stable_sort(out.begin(), out.end(), [&](const Collective& a, const Collective& b) {
    return earlier(a.call, b.call);
  });
  return out;
}

size_t match(std::vector<std::vector<Collective>>& by_rank) {
  using Key = std::tuple<std::string, std::string, int64_t, size_t>;  // the n-th of its kind
  std::map<Key, std::vector<Collective*>> partners;
  for (auto& calls : by_rank) {
    std::map<std::tuple<std::string, std::string, int64_t>, size_t> count;
    for (Collective& call : calls) {
      const size_t nth = count[{call.name, call.group, call.sequence}]++;
      partners[{call.name, call.group, call.sequence, nth}].push_back(&call);
    }
  }
  size_t unmatched = 0;
  for (auto& [key, calls] : partners) {
    unmatched += calls.size() < by_rank.size();
    size_t ranges = SIZE_MAX;
    for (const Collective* call : calls) ranges = std::min(ranges, call->ranges.size());
    for (size_t j = 0; j < ranges; ++j) {
      int64_t shortest = INT64_MAX;
      for (const Collective* call : calls) shortest = std::min(shortest, call->ranges[j].length());
      for (Collective* call : calls)
        call->transfer.push_back({call->ranges[j].end - shortest, call->ranges[j].end});
    }
  }
  return unmatched;
}

}  // namespace sonde::capture::pytorch
