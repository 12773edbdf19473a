#include "api/services/job_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/v1/support.h"
#include "base/regex.h"
#include "base/strings.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kMaxJobBytes = uint64_t{4} << 30;
constexpr double kQuickWork = 2e8;  // multiplications

struct Range {
  double least, most;
};

Result<double> within(const JsonValue& params, std::string_view name, double otherwise,
                      Range range) {
  SONDE_TRY(const value, number_in(params, name, otherwise));
  if (value >= range.least && value <= range.most) return value;
  return fail(Code::kInvalid,
              fmt::format("'{}' must lie between {} and {}", name, range.least, range.most));
}

Result<int> whole(const JsonValue& params, std::string_view name, int otherwise, Range range) {
  SONDE_TRY(const value, integer_in(params, name, otherwise));
  const auto number = static_cast<double>(value);
  if (number >= range.least && number <= range.most) return static_cast<int>(value);
  return fail(Code::kInvalid,
              fmt::format("'{}' must lie between {} and {}", name, range.least, range.most));
}

// Supervision: rows of one value of a column attract each other.
Result<void> read_supervision(const JsonValue& params, const JobRequest& job,
                              embed::TsneParams& out) {
  SONDE_TRY(const strength, within(params, "supervise", 0, {0, 100}));
  out.supervise = strength;
  if (strength <= 0) return {};
  SONDE_TRY(const name, text_in(params, "column"));
  const embed::LabelColumn* column = job.embedding->labels.find(name);
  if (!column)
    return fail(Code::kInvalid, fmt::format("'column': the metadata has no column '{}'", name));
  for (size_t i = 0; i < job.rows(); ++i)
    out.labels.push_back(static_cast<int>(column->codes[job.subset.empty() ? i : job.subset[i]]));
  SONDE_TRY(const ignored, text_in(params, "ignored"));
  for (size_t i = 0; i < column->words.size() && params.find("ignored"); ++i) {
    if (column->words[i] == ignored) out.ignored_label = static_cast<int>(i);
  }
  return {};
}

Result<void> read_tsne(const JsonValue& params, JobRequest& job) {
  embed::TsneParams& out = job.tsne;
  SONDE_TRY(const dims, whole(params, "dims", 3, {2, 3}));
  SONDE_TRY(const perplexity, within(params, "perplexity", 30, {1, 500}));
  SONDE_TRY(const rate, within(params, "learning_rate", 0, {0, 1e6}));
  SONDE_TRY(const iterations, whole(params, "iterations", 1000, {1, 100000}));
  SONDE_TRY(const theta, within(params, "theta", 0, {0, 2}));
  SONDE_TRY(const start, whole(params, "start", 0, {0, 1e9}));
  out.dims = dims;
  out.perplexity = perplexity;
  out.learning_rate = rate;
  out.iterations = iterations;
  out.theta = theta;
  job.start = static_cast<uint64_t>(start);
  return read_supervision(params, job, out);
}

Result<void> read_umap(const JsonValue& params, JobRequest& job) {
  embed::UmapParams& out = job.umap;
  SONDE_TRY(const dims, whole(params, "dims", 3, {2, 3}));
  SONDE_TRY(const neighbours, whole(params, "neighbours", 15, {2, 500}));
  SONDE_TRY(const min_dist, within(params, "min_dist", 0.1, {0, 0.99}));
  SONDE_TRY(const epochs, whole(params, "epochs", 0, {0, 100000}));
  out.dims = dims;
  out.neighbours = static_cast<size_t>(neighbours);
  out.min_dist = min_dist;
  out.epochs = epochs;
  return {};
}

// The rows whose text in a column contains a text, or matches a regular expression; case does not
// count.
Result<std::vector<uint32_t>> matching_rows(const embed::LabelColumn& column,
                                            const std::string& text, bool is_regex) {
  std::vector<uint32_t> rows;
  if (text.empty()) return rows;
  std::string pattern = "(?i)";
  if (is_regex) {
    pattern += text;
  } else {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 128 && !std::isalnum(static_cast<unsigned char>(c)))
        pattern += '\\';
      pattern += c;
    }
  }
  SONDE_TRY(const regex, Regex::compile(pattern));
  std::vector<bool> fits;
  for (const std::string& word : column.words) fits.push_back(regex.found_in(word));
  for (size_t i = 0; i < column.codes.size(); ++i) {
    if (fits[column.codes[i]]) rows.push_back(static_cast<uint32_t>(i));
  }
  return rows;
}

Result<void> read_custom(const JsonValue& params, JobRequest& job) {
  const embed::LabelColumn* column = nullptr;
  for (size_t end = 0; end < kAxisEnds.size(); ++end) {
    const JsonValue* value = params.find(kAxisEnds[end]);
    if (!value) continue;
    if (value->is_array()) {
      SONDE_TRY(rows, rows_in(params, kAxisEnds[end], job.embedding->matrix->rows));
      job.ends[end] = std::move(rows);
      continue;
    }
    SONDE_TRY(const text, text_in(*value, "text"));
    const JsonValue* regex = value->find("regex");
    if (!column) {
      SONDE_TRY(const name, text_in(params, "column"));
      column = job.embedding->labels.find(name);
      if (!column) {
        return fail(Code::kInvalid, fmt::format("'column': the metadata has no column '{}'", name));
      }
    }
    auto rows = matching_rows(*column, text, regex && regex->is_bool() && regex->boolean);
    if (!rows) return fail(std::move(rows.error()).in(kAxisEnds[end]));
    job.ends[end] = std::move(*rows);
  }
  return {};
}

Result<void> read_params(const JsonValue& params, JobRequest& job) {
  SONDE_TRY(const scaling, text_in(params, "scaling", "none"));
  if (scaling != "none" && scaling != "sphere")
    return fail(Code::kInvalid, "'scaling' must be \"none\" or \"sphere\"");
  job.scaling = scaling == "sphere" ? embed::Scaling::kSphere : embed::Scaling::kNone;
  SONDE_TRY(const metric_name, text_in(params, "metric", "cosine"));
  SONDE_TRY(const metric, metric_of(metric_name));
  SONDE_TRY(const seed, whole(params, "seed", 1, {0, 2e9}));
  job.tsne.metric = job.umap.metric = metric;
  job.tsne.seed = job.umap.seed = static_cast<uint32_t>(seed);
  if (job.kind == JobKind::kTsne) return read_tsne(params, job);
  if (job.kind == JobKind::kUmap) return read_umap(params, job);
  if (job.kind == JobKind::kCustom) return read_custom(params, job);
  SONDE_TRY(const components, whole(params, "components", 10, {1, 100}));
  job.components = static_cast<size_t>(components);
  return {};
}

Result<void> check_memory(const JobRequest& job) {
  const uint64_t rows = job.rows(), dims = job.embedding->matrix->columns;
  uint64_t neighbours = 0;
  if (job.kind == JobKind::kTsne) neighbours = static_cast<uint64_t>(3 * job.tsne.perplexity);
  if (job.kind == JobKind::kUmap) neighbours = job.umap.neighbours;
  neighbours = std::min(neighbours, rows);
  // Two copies of the vectors (as they are and of unit length); lists of neighbours in both
  // directions.
  const uint64_t bytes = rows * (dims * 8 + neighbours * 60);
  if (bytes <= kMaxJobBytes) return {};
  return fail(Code::kTooLarge,
              fmt::format("{} points of {} dimensions would need {} of memory, a job may have {}; "
                          "isolate a part of the points or ask for fewer neighbours",
                          rows, dims, human_bytes(bytes), human_bytes(kMaxJobBytes)));
}

}  // namespace

std::string_view name_of(JobKind kind) {
  static constexpr std::string_view kNames[] = {"pca", "tsne", "umap", "custom"};
  return kNames[static_cast<size_t>(kind)];
}

size_t JobRequest::rows() const { return subset.empty() ? embedding->matrix->rows : subset.size(); }

bool JobRequest::is_quick() const {
  const auto n = static_cast<double>(rows()), d = static_cast<double>(embedding->matrix->columns);
  if (kind == JobKind::kCustom) return n * d < kQuickWork;
  return kind == JobKind::kPca && d <= 300 && n * d * d < kQuickWork;
}

Result<embed::Metric> metric_of(std::string_view name) {
  if (name == "cosine") return embed::Metric::kCosine;
  if (name == "euclidean") return embed::Metric::kEuclidean;
  return fail(Code::kInvalid, "'metric' must be \"cosine\" or \"euclidean\"");
}

Result<std::vector<uint32_t>> rows_in(const JsonValue& body, std::string_view name, uint64_t rows) {
  std::vector<uint32_t> out;
  const JsonValue* list = body.find(name);
  if (!list) return out;
  if (!list->is_array())
    return fail(Code::kInvalid, fmt::format("'{}' must be a list of rows", name));
  if (list->items.size() > rows)
    return fail(Code::kInvalid, fmt::format("'{}' lists more rows than there are", name));
  for (const JsonValue& item : list->items) {
    const auto row = item.integer();
    if (!row || *row < 0 || static_cast<uint64_t>(*row) >= rows)
      return fail(Code::kInvalid, fmt::format("'{}' names a row that is not there", name));
    out.push_back(static_cast<uint32_t>(*row));
  }
  return out;
}

Result<JobRequest> job_request(const JsonValue& body,
                               std::shared_ptr<const LoadedEmbedding> embedding) {
  JobRequest job;
  job.embedding = std::move(embedding);
  SONDE_TRY(const kind, text_in(body, "kind"));
  const auto is = [&](JobKind k) { return kind == name_of(k); };
  if (!is(JobKind::kPca) && !is(JobKind::kTsne) && !is(JobKind::kUmap) && !is(JobKind::kCustom))
    return fail(Code::kInvalid, "'kind' must be one of pca, tsne, umap, custom");
  job.kind = is(JobKind::kPca)    ? JobKind::kPca
             : is(JobKind::kTsne) ? JobKind::kTsne
             : is(JobKind::kUmap) ? JobKind::kUmap
                                  : JobKind::kCustom;
  SONDE_TRY(subset, rows_in(body, "subset", job.embedding->matrix->rows));
  job.subset = std::move(subset);
  static const JsonValue kNone = JsonValue::object();
  const JsonValue* params = body.find("params");
  if (params && !params->is_object()) return fail(Code::kInvalid, "'params' must be an object");
  SONDE_TRY(read, read_params(params ? *params : kNone, job).map([] { return true; }));
  SONDE_TRY(fits, check_memory(job).map([] { return true; }));
  (void)read, (void)fits;
  const JsonValue* rows = body.find("subset");
  job.key = fmt::format("{},{},{},{},{:x}", job.embedding->entry.id, job.embedding->entry.mark,
                        kind, params ? to_text(*params) : "", rows ? hash_of(to_text(*rows)) : 0);
  return job;
}

}  // namespace sonde::api::v1
