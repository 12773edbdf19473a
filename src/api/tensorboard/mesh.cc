// TensorBoard's mesh plug-in. A mesh is up to three series (vertices, faces, colours) of one name.
#include <algorithm>
#include <cmath>
#include <map>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"
#include "codec/wire.h"
#include "log/event/tensor.h"

namespace sonde::api::tensorboard {
namespace {

enum class Content : int32_t { kUndefined = 0, kVertex = 1, kFace = 2, kColor = 3 };

// MeshPluginData, in the metadata of each part.
struct Part {
  int64_t version = 0;
  std::string name;
  int32_t content = 0;
  std::string config;
  std::vector<int64_t> shape;
  uint32_t components = 0;
};

Part part_of(const store::Series& series) {
  Part part;
  wire::Cursor cursor(as_bytes(series.metadata().content));
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1 && !field.is_bytes()) part.version = field.as_int();
    if (field.number == 2 && field.is_bytes()) part.name = field.text();
    if (field.number == 3 && !field.is_bytes()) part.content = static_cast<int32_t>(field.bits);
    if (field.number == 5 && field.is_bytes()) part.config = field.text();
    if (field.number == 6) {
      (void)wire::for_each_varint(
          field, [&](uint64_t size) { part.shape.push_back(static_cast<int32_t>(size)); });
    }
    if (field.number == 7 && !field.is_bytes()) part.components = static_cast<uint32_t>(field.bits);
  }
  constexpr uint32_t kAllParts = 14;
  if (part.components == 0) part.components = kAllParts;
  return part;
}

bool is_mesh(const store::Series& series) {
  return belongs(series, store::DataClass::kTensor, "mesh");
}

Answer tags(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const auto& run : snapshot->runs) {
      bool has_mesh = false;
      std::vector<std::pair<std::string, int64_t>> names;
      for (const auto& series : run->series) {
        if (!is_mesh(*series)) continue;
        has_mesh = true;
        const Part part = part_of(*series);
        if (part.version != 0 || part.shape.empty()) continue;
        const auto known = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
          return entry.first == part.name;
        });
        if (known == names.end()) {
          names.emplace_back(part.name, part.shape[0]);
        } else {
          known->second = part.shape[0];
        }
      }
      if (!has_mesh) continue;
      json.key(run->name).object([&] {
        for (const auto& [name, batch] : names) {
          json.key(name).object([&] { json.key("samples").number(batch); });
        }
      });
    }
  });
  return Answer::json(std::move(out));
}

struct Step3d {
  Part part;
  store::BlobPoint point;
};

// All points of the parts of a mesh.
std::vector<Step3d> steps_of(const Context& context, const store::Snapshot& snapshot,
                             std::string_view run, std::string_view name) {
  std::vector<Step3d> steps;
  const store::RunSnapshot* found = snapshot.find(run);
  if (!found) return steps;
  const uint64_t limit = samples(context, "mesh", query::kAllSamples);
  for (const auto& series : found->series) {
    if (!is_mesh(*series)) continue;
    const Part part = part_of(*series);
    if (part.name != name) continue;
    for (const store::BlobPoint& point : query::blob_points(*series, limit))
      steps.push_back({part, point});
  }
  return steps;
}

Answer meshes(const Context& context, const Request& request) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  if (!run) return invalid("the run must be given");
  const auto snapshot = context.store.snapshot();
  // Without a tag no mesh is meant, as in TensorBoard.
  std::vector<Step3d> steps;
  if (tag) steps = steps_of(context, *snapshot, *run, *tag);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step3d& a, const Step3d& b) { return a.point.step < b.point.step; });
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const Step3d& step : steps) {
      json.object([&] {
        json.key("wall_time").number(step.point.wall_time);
        json.key("step").number(step.point.step);
        json.key("content_type").number(step.part.content);
        json.key("components").number(step.part.components);
        json.key("config").string(step.part.config);
        json.key("data_shape").array([&] {
          for (const int64_t size : step.part.shape) json.number(size);
        });
      });
    }
  });
  return Answer::json(std::move(out));
}

// Sample `sample` of a batch, as the bytes the page draws; a negative one counts from the end.
Result<std::string> sample_bytes(const event::ValueView& value, Content content, int64_t asked) {
  if (value.kind != event::ValueKind::kTensor)
    return fail(Code::kUnsupported, "the value is no tensor");
  SONDE_TRY(const tensor, event::parse_tensor(value.body));
  SONDE_TRY(const count, event::element_count(tensor));
  const auto batch = tensor.dims.empty() ? uint64_t{0} : static_cast<uint64_t>(tensor.dims[0]);
  const uint64_t sample = static_cast<uint64_t>(asked) + (asked < 0 ? batch : 0);
  if (sample >= batch) {
    return fail(Code::kInvalid, "sample " + std::to_string(asked) +
                                    " is out of range: the mesh has " + std::to_string(batch));
  }
  const uint64_t each = count / batch;
  std::string out;
  const auto append = [&](auto element) {
    out.append(reinterpret_cast<const char*>(&element), sizeof element);
  };
  if (content == Content::kVertex) {
    SONDE_TRY(const values, event::decode_floats(tensor));
    for (uint64_t i = sample * each; i < (sample + 1) * each; ++i) append(values[i]);
  } else {
    SONDE_TRY(const values, event::decode_integers(tensor));
    for (uint64_t i = sample * each; i < (sample + 1) * each; ++i) {
      if (content == Content::kFace) {
        append(static_cast<int32_t>(values[i]));
      } else {
        append(static_cast<uint8_t>(values[i]));
      }
    }
  }
  return out;
}

Answer data(const Context& context, const Request& request) {
  static const std::map<std::string_view, Content> kNames = {
      {"VERTEX", Content::kVertex}, {"FACE", Content::kFace}, {"COLOR", Content::kColor}};
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  if (!run || !tag) return invalid("both run and tag must be given");
  const auto kind = kNames.find(request.param("content_type").value_or(""));
  if (kind == kNames.end()) return bad_request("Bad content_type");
  const std::string_view step_text = request.param("step").value_or("0");
  const auto step = integer_of(step_text.substr(0, step_text.find('.')));  // the page may send 3.0
  const auto sample = integer_of(request.param("sample").value_or("0"));
  if (!step || !sample) return invalid("step and sample must be whole numbers");
  const auto snapshot = context.store.snapshot();
  std::string out;
  for (const Step3d& one : steps_of(context, *snapshot, *run, *tag)) {
    if (one.point.step != *step || one.part.content != static_cast<int32_t>(kind->second)) continue;
    std::string payload;
    const auto value = read_value(context, one.point.where, payload);
    if (!value) return failed(value.error());
    const auto bytes = sample_bytes(*value, kind->second, *sample);
    if (!bytes) return failed(bytes.error());
    out += *bytes;
  }
  return blob(std::move(out), "arraybuffer");
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/mesh/tags", tags},
    {"*", "/data/plugin/mesh/meshes", meshes},
    {"*", "/data/plugin/mesh/data", data},
};

}  // namespace

std::span<const Route> mesh_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
