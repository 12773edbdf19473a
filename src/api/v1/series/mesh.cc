// GET mesh: point clouds and triangle meshes. A mesh is up to three series of one name (vertices,
// faces, colours); the name stands in the metadata of each.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "codec/wire.h"
#include "log/event/tensor.h"
#include "log/event/value.h"
#include "log/query/series/column_file.h"

namespace sonde::api::v1 {
namespace {

enum Content : size_t { kVertex = 1, kFace = 2, kColour = 3, kContents };

struct PartData {  // MeshPluginData
  std::string name;
  size_t content = 0;
  std::string config;
  std::vector<int64_t> shape;
};

PartData part_of(const store::Series& series) {
  PartData part;
  wire::Cursor cursor(as_bytes(series.metadata().content));
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 2 && field.is_bytes()) part.name = field.text();
    if (field.number == 3 && !field.is_bytes()) part.content = static_cast<size_t>(field.bits);
    if (field.number == 5 && field.is_bytes()) part.config = field.text();
    if (field.number == 6) {
      (void)wire::for_each_varint(
          field, [&](uint64_t size) { part.shape.push_back(static_cast<int32_t>(size)); });
    }
  }
  return part;
}

struct Mesh {
  std::array<const store::Series*, kContents> parts{};
  PartData vertex;
};

// By the name of the mesh, or by the tag of one of its parts.
Result<Mesh> mesh_param(const store::Snapshot& snapshot, const Request& request) {
  SONDE_TRY(const run_name, text_param(request, "run"));
  SONDE_TRY(const tag, text_param(request, "tag"));
  const store::RunSnapshot* run = snapshot.find(run_name);
  if (!run) return fail(Code::kNotFound, fmt::format("there is no run '{}'", run_name));
  std::string name = tag;
  if (const store::Series* series = run->find(tag); series && kind_of(*series) == "mesh")
    name = part_of(*series).name;
  Mesh mesh;
  for (const auto& series : run->series) {
    if (kind_of(*series) != "mesh") continue;
    PartData part = part_of(*series);
    if (part.name != name || part.content == 0 || part.content >= kContents) continue;
    mesh.parts[part.content] = series.get();
    if (part.content == kVertex) mesh.vertex = std::move(part);
  }
  if (!mesh.parts[kVertex])
    return fail(Code::kNotFound, fmt::format("run '{}' has no mesh '{}'", run_name, tag));
  return mesh;
}

Answer listing(const Context& context, const store::Snapshot& snapshot, const Mesh& mesh,
               store::View view) {
  const auto points = points_of(*mesh.parts[kVertex], view);
  const auto config = read_json(mesh.vertex.config);
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot.revision);
    json.key("total").number(static_cast<uint64_t>(points.size()));
    write_steps(json, points);
    json.key("samples").safe_integer(mesh.vertex.shape.empty() ? 1 : mesh.vertex.shape[0]);
    json.key("config").raw(config && config->is_object() ? to_text(*config) : "{}");
  });
  return json_answer(context, snapshot.revision, std::move(body));
}

// One sample of one part at a step; an empty tensor when that part was not written then.
struct Slice {
  event::TensorView tensor;
  std::string payload;  // what the view points into
  uint64_t begin = 0, end = 0;
};

Result<bool> read_slice(const Context& context, const store::Series& series, store::View view,
                        int64_t step, uint64_t sample, Slice& slice) {
  for (const store::BlobPoint& point : points_of(series, view)) {
    if (point.step != step) continue;
    SONDE_TRY(payload, context.store.blobs().event(point.where));
    slice.payload = std::move(payload);
    SONDE_TRY(const value, event::find_value(as_bytes(slice.payload), point.where.value));
    if (value.kind != event::ValueKind::kTensor)
      return fail(Code::kUnsupported, "the value holds no mesh");
    SONDE_TRY(tensor, event::parse_tensor(value.body));
    SONDE_TRY(const count, event::element_count(tensor));
    const uint64_t batch = tensor.dims.empty() ? 0 : static_cast<uint64_t>(tensor.dims[0]);
    if (sample >= batch)
      return fail(Code::kNotFound, fmt::format("step {} has {} samples", step, batch));
    slice.begin = sample * (count / batch);
    slice.end = slice.begin + count / batch;
    slice.tensor = std::move(tensor);
    return true;
  }
  return false;
}

template <class T>
Result<query::Column> integers(const Slice& slice, std::string name) {
  SONDE_TRY(const values, event::decode_integers(slice.tensor));
  std::vector<T> out;
  out.reserve(slice.end - slice.begin);
  for (uint64_t i = slice.begin; i < slice.end; ++i) out.push_back(static_cast<T>(values[i]));
  return query::Column::of(std::move(name), out);
}

Result<query::Column> vertices(const Slice& slice) {
  SONDE_TRY(const values, event::decode_floats(slice.tensor));
  return query::Column::of("vertex",
                           std::vector<float>(values.begin() + static_cast<ptrdiff_t>(slice.begin),
                                              values.begin() + static_cast<ptrdiff_t>(slice.end)));
}

Answer data(const Context& context, const store::Snapshot& snapshot, const Mesh& mesh,
            store::View view, const Request& request) {
  SONDE_ANSWER(const step, integer_param(request, "step", 0));
  SONDE_ANSWER(const sample, integer_param(request, "sample", 0));
  if (sample < 0) return error({Code::kInvalid, "'sample' is negative"}, "sample");
  uint64_t revision = 0;
  for (const store::Series* part : mesh.parts) {
    if (part) revision = std::max(revision, part->revision());
  }
  std::string etag = etag_of(context, fmt::format("mesh,{},{}", revision, request.raw_query));
  std::vector<query::Column> columns;
  for (const size_t content : {kVertex, kFace, kColour}) {
    if (!mesh.parts[content]) continue;
    Slice slice;
    SONDE_ANSWER(const there, read_slice(context, *mesh.parts[content], view, step,
                                         static_cast<uint64_t>(sample), slice));
    if (!there) continue;
    SONDE_ANSWER(column, content == kVertex ? vertices(slice)
                         : content == kFace ? integers<uint32_t>(slice, "face")
                                            : integers<uint8_t>(slice, "colour"));
    columns.push_back(std::move(column));
  }
  if (columns.empty())
    return error({Code::kNotFound, fmt::format("there is no mesh at step {}", step)}, "step");
  std::string file = query::column_file(columns, [&](JsonWriter& json) {
    json.key("boot").string(context.settings.boot);
    json.key("rev").number(snapshot.revision);
    json.key("step").safe_integer(step);
    json.key("sample").safe_integer(sample);
  });
  return columns_answer(snapshot.revision, std::move(file), std::move(etag));
}

Answer mesh(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const found, mesh_param(*snapshot, request));
  SONDE_ANSWER(const view, view_param(request));
  if (!request.param("step")) return listing(context, *snapshot, found, view);
  return data(context, *snapshot, found, view, request);
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/mesh", mesh}};

}  // namespace

std::span<const Route> mesh_routes() { return kRoutes; }

}  // namespace sonde::api::v1
