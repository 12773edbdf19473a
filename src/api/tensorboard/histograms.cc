// TensorBoard's histograms and distributions plug-ins.
#include "api/tensorboard/areas.h"
#include "api/tensorboard/histogram_json.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "log/query/media/distributions.h"

namespace sonde::api::tensorboard {
namespace {

Answer tags(const Context& context, const Request&) {
  return tag_listing(context, store::DataClass::kTensor, "histograms");
}

using AppendBuckets = void (*)(std::string&, const std::vector<event::Bucket>&);

// [[wall_time, step, <buckets>], ...]
Answer series(const Context& context, const Request& request, std::string_view plugin,
              AppendBuckets append) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  if (!run || !tag) return invalid("both run and tag must be given");
  const auto snapshot = context.store.snapshot();
  const store::Series* found =
      find_series(*snapshot, *run, *tag, store::DataClass::kTensor, "histograms");
  if (!found) {
    return not_found("No histogram tag " + python_name(tag) + " for run " + python_name(run));
  }
  const uint64_t limit = samples(context, plugin, kDefaultSamples);
  auto array =
      histogram_array(context, *found, limit, [&](std::string& out, const HistogramPoint& point) {
        out.push_back('[');
        append_json_number(out, point.wall_time);
        out.push_back(',');
        append_integer(out, point.step);
        out.push_back(',');
        append(out, point.buckets);
        out.push_back(']');
      });
  Answer answer = Answer::json(std::move(array.json));
  answer.is_complete = array.is_complete;
  return answer;
}

// A bucket ends where the next one begins: its number is printed once.
void append_rows(std::string& out, const std::vector<event::Bucket>& buckets) {
  out.push_back('[');
  size_t edge = 0, edge_end = 0;  // where the last right edge stands in `out`
  for (size_t i = 0; i < buckets.size(); ++i) {
    const event::Bucket& bucket = buckets[i];
    out += i == 0 ? "[" : ",[";
    if (i > 0 && bucket.left == buckets[i - 1].right) {
      out.append(out, edge, edge_end - edge);
    } else {
      append_json_number(out, bucket.left);
    }
    out.push_back(',');
    edge = out.size();
    append_json_number(out, bucket.right);
    edge_end = out.size();
    out.push_back(',');
    append_json_number(out, bucket.count);
    out.push_back(']');
  }
  out.push_back(']');
}

void append_quantiles(std::string& out, const std::vector<event::Bucket>& buckets) {
  out.push_back('[');
  for (const query::Quantile& quantile : query::compressed(buckets)) {
    if (out.back() != '[') out.push_back(',');
    out.push_back('[');
    append_integer(out, quantile.basis_points);
    out.push_back(',');
    append_json_number(out, quantile.value);
    out.push_back(']');
  }
  out.push_back(']');
}

Answer histograms(const Context& context, const Request& request) {
  return series(context, request, "histograms", append_rows);
}

Answer distributions(const Context& context, const Request& request) {
  return series(context, request, "distributions", append_quantiles);
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/histograms/tags", tags},
    {"*", "/data/plugin/histograms/histograms", histograms, kMaxBodyBytes, nullptr, series_version},
    {"*", "/data/plugin/distributions/tags", tags},
    {"*", "/data/plugin/distributions/distributions", distributions, kMaxBodyBytes, nullptr,
     series_version},
};

}  // namespace

std::span<const Route> histograms_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
