// What can be logged, as values: each function here turns data into the bytes of a `Summary`
// message in the form TensorBoard's own writers use, without touching a file. Writer (writer.h)
// has a shorter spelling for each; use these to build once and log to several writers.
//
//   sonde::Summary s = sonde::summary::histogram("weights", sonde::array(data, {rows, columns}));
//   if (!s.ok()) complain(s.problem);
//   writer.add(s, step);
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sonde {

// Element types, numbered as TensorFlow's DataType.
enum class DataType : int32_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kFloat16 = 19,
  kUint32 = 22,
  kUint64 = 23,
};

// A dense row-major array that somebody else owns; read during the call and not kept.
struct Array {
  const void* data = nullptr;
  DataType type = DataType::kFloat32;
  std::vector<int64_t> shape;

  size_t count() const {
    size_t n = 1;
    for (const int64_t d : shape) n *= d > 0 ? static_cast<size_t>(d) : 0;
    return n;
  }
};

template <class T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DataType::kBool;
  else if constexpr (std::is_same_v<T, float>)
    return DataType::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return DataType::kFloat64;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    return std::is_signed_v<T> ? DataType::kInt8 : DataType::kUint8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
    return std::is_signed_v<T> ? DataType::kInt16 : DataType::kUint16;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? DataType::kInt32 : DataType::kUint32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? DataType::kInt64 : DataType::kUint64;
  else
    static_assert(sizeof(T) == 0, "no such element type");
}

// sonde::array(vector) is one-dimensional, sonde::array(pointer or vector, {2, 3}) is what it says.
// The second form trusts the shape: there must be that many elements.
template <class T>
Array array(const T* data, std::vector<int64_t> shape) {
  return {data, data_type_of<T>(), std::move(shape)};
}
template <class T>
Array array(const std::vector<T>& data, std::vector<int64_t> shape) {
  return {data.data(), data_type_of<T>(), std::move(shape)};
}
template <class T>
Array array(const std::vector<T>& data) {
  return {data.data(), data_type_of<T>(), {static_cast<int64_t>(data.size())}};
}

// Serialized Summary, or the sentence that says why there is none.
struct Summary {
  std::string bytes;
  std::string problem;
  bool ok() const { return problem.empty(); }
};

// Shown by the dashboards beside the data; the description is Markdown.
struct About {
  std::string description;
  std::string display_name;
};

// Which dashboard a tensor belongs to.
struct Plugin {
  std::string name;
  std::string content;
};

// A hyperparameter keeps its type.
using HParamValue = std::variant<bool, double, std::string>;

struct HParamInfo {
  std::string name;
  enum class Kind : uint8_t { kUnknown, kString, kBool, kNumber } kind = Kind::kUnknown;
  std::string display_name;
  std::string description;
  std::optional<std::pair<double, double>> interval;  // of a number
  std::vector<HParamValue> values;                    // a discrete domain
};

struct MetricInfo {
  std::string tag;
  std::string group;  // run below the session's, e.g. "validation"; empty = the session's own
  std::string display_name;
  std::string description;
  enum class Dataset : uint8_t { kUnknown, kTraining, kValidation } dataset = Dataset::kUnknown;
};

struct HParamsConfig {
  std::vector<HParamInfo> hparams;
  std::vector<MetricInfo> metrics;
  double created_secs = 0;
  std::string description;
  std::string user;
};

struct SessionStart {
  std::vector<std::pair<std::string, HParamValue>> hparams;
  std::string group_name;  // sessions of one group are repetitions of each other
  double start_secs = 0;
  std::string model_uri;
  std::string monitor_url;
};

enum class SessionStatus : uint8_t { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };

// Custom scalars: a chart has either tags (regular expressions, one line each) or margins.
struct Chart {
  struct Margin {
    std::string value, lower, upper;  // exact tags
  };
  std::string title;
  std::vector<std::string> tags;
  std::vector<Margin> margins;
};
struct ChartCategory {
  std::string title;
  std::vector<Chart> charts;
  bool closed = false;
};

// Vertices and faces (indices) are [n, 3] or [batch, n, 3]; colours 0 to 255 of the same form.
struct Mesh {
  Array vertices;
  std::optional<Array> faces;
  std::optional<Array> colors;
  std::string json_config;  // camera, material ... as TensorBoard's mesh dashboard takes it
};

// One node of a model graph: names with '/' nest.
struct GraphNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;
  std::string device;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::vector<int64_t>> output_shapes;
};

namespace summary {

// A value that float32 cannot hold exactly carries the double beside it: TensorBoard shows the
// float, Sonde the double.
Summary scalar(std::string_view tag, double value, const About& about = {});

// TensorBoard's buckets: equal widths from the least to the greatest finite value. NaN and infinite
// elements are counted beside the buckets, where TensorBoard loses the whole histogram to them.
Summary histogram(std::string_view tag, const Array& data, int buckets = 30,
                  const About& about = {});

// [n, h, w, c] or [h, w, c] or [h, w]; c = 1 to 4. uint8 as it is, floats from 0 to 1.
Summary image(std::string_view tag, const Array& pixels, int max_outputs = 3,
              const About& about = {});
// Already encoded images (PNG, JPEG, GIF ...) of one size.
Summary encoded_images(std::string_view tag, int64_t width, int64_t height,
                       std::span<const std::string> images, const About& about = {});
// Frames [t, h, w, c] as one animated GIF.
Summary video(std::string_view tag, const Array& frames, double frames_per_s = 4,
              const About& about = {});

// [clips, frames, channels] or [frames, channels] or [frames], floats from -1 to 1, as 16-bit WAV.
Summary audio(std::string_view tag, const Array& samples, int sample_rate, int max_outputs = 3,
              const About& about = {});

Summary text(std::string_view tag, std::string_view markdown, const About& about = {});
Summary texts(std::string_view tag, std::span<const std::string> cells,
              const std::vector<int64_t>& shape, const About& about = {});

Summary tensor(std::string_view tag, const Array& data, const Plugin& plugin = {},
               const About& about = {});
Summary string_tensor(std::string_view tag, std::span<const std::string> cells,
                      const std::vector<int64_t>& shape, const Plugin& plugin,
                      const About& about = {});

struct PrCurveData {
  Array labels;       // 0 or 1
  Array predictions;  // 0 to 1
  std::optional<Array> weights;
  int num_thresholds = 201;
};
Summary pr_curve(std::string_view tag, const PrCurveData& data, const About& about = {});
// Rows tp, fp, tn, fn, precision, recall, each of as many columns as thresholds.
Summary pr_curve_raw(std::string_view tag, std::span<const float> rows, int num_thresholds,
                     const About& about = {});

Summary mesh(std::string_view tag, const Mesh& mesh, const About& about = {});
Summary custom_scalars(std::span<const ChartCategory> layout);
Summary hparams_config(const HParamsConfig& config);
Summary session_start(const SessionStart& start);
Summary session_end(SessionStatus status, double end_secs);
// A Keras model's to_json(), shown as conceptual graph.
Summary keras_model(std::string_view json, std::string_view tag = "keras");

// GraphDef bytes for Writer::graph.
std::string graph_def(std::span<const GraphNode> nodes);

}  // namespace summary
}  // namespace sonde
