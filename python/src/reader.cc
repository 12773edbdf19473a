// sonde.load(): every point of a log directory as columns. Loading and copying run without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <vector>

#include "arrays.h"
#include "io/remote/remote.h"
#include "io/scan.h"
#include "log/event/blob.h"
#include "log/event/tensor.h"
#include "log/event/value.h"
#include "log/store/store.h"

namespace sonde::python {
namespace {

using store::Series;
using store::View;

template <class T>
nb::object numpy(std::vector<T> data) {
  auto* owned = new std::vector<T>(std::move(data));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

nb::object numpy(std::vector<double> data, const std::vector<size_t>& shape) {
  auto* owned = new std::vector<double>(std::move(data));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner));
}

template <class T>
void append_values(const store::ScalarBlock& block, std::vector<T>& out) {
  const auto* values = static_cast<const T*>(block.values);
  out.insert(out.end(), values, values + block.size());
}

struct Columns {
  std::vector<int64_t> steps;
  std::vector<double> wall_times;
};

class Log {
 public:
  explicit Log(const std::string& folder) {
    store::Options options;
    const std::string place = io::absolute_path(folder);
    options.roots.push_back({"", place});
    options.follow = false;
    options.reload_interval_s = 0;
    std::string problem;
    {
      nb::gil_scoped_release unlocked;
      auto good = io::check_scheme(place);
      if (good && io::is_remote(place)) good = io::check_remote(place);
      auto opened = good ? store::Store::open(std::move(options)) : fail(good.error());
      if (opened) {
        store_ = std::move(*opened);
        store_->wait_loaded();
        snapshot_ = store_->snapshot();
      } else {
        problem = opened.error().text;
      }
    }
    if (!problem.empty()) throw nb::value_error(problem.c_str());
  }

  std::vector<std::string> runs() const {
    std::vector<std::string> out;
    for (const auto& run : snapshot_->runs) out.push_back(run->name);
    return out;
  }

  nb::list series() const {
    nb::list out;
    for (const auto& run : snapshot_->runs) {
      for (const auto& one : run->series) {
        const store::Metadata& about = one->metadata();
        out.append(nb::make_tuple(run->name, one->tag(), about.plugin, bytes(about.content),
                                  about.display_name, about.description, one->is_scalar(),
                                  one->size(View::kNewest), one->size()));
      }
    }
    return out;
  }

  nb::list damage() const {
    nb::list out;
    for (const auto& run : snapshot_->runs)
      for (const store::Damage& d : run->damage)
        out.append(nb::make_tuple(run->name, snapshot_->files[static_cast<size_t>(d.file)]->path,
                                  d.offset, d.length, d.kind, d.text));
    return out;
  }

  nb::tuple scalars(const std::string& run, const std::string& tag, bool all) const {
    const Series& one = find(run, tag);
    Columns columns;
    std::vector<double> doubles;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<uint64_t> words;
    std::vector<uint8_t> flags;
    const View view = all ? View::kAll : View::kNewest;
    {
      nb::gil_scoped_release unlocked;
      for (const store::Range range : one.ranges(view)) {
        one.blocks(range, [&](const store::ScalarBlock& block) {
          columns.steps.insert(columns.steps.end(), block.steps.begin(), block.steps.end());
          columns.wall_times.insert(columns.wall_times.end(), block.wall_times.begin(),
                                    block.wall_times.end());
          // A series that mixes types is widened to doubles, block by block.
          if (one.value_type() == store::ValueType::kFloat64 &&
              block.type != store::ValueType::kFloat64) {
            for (size_t i = 0; i < block.size(); ++i) doubles.push_back(block.value(i));
            return;
          }
          switch (block.type) {
            case store::ValueType::kFloat32:
              return append_values(block, floats);
            case store::ValueType::kFloat64:
              return append_values(block, doubles);
            case store::ValueType::kInt64:
              return append_values(block, ints);
            case store::ValueType::kUint64:
              return append_values(block, words);
            case store::ValueType::kBool:
              return append_values(block, flags);
          }
        });
      }
    }
    nb::object values;
    switch (one.value_type()) {
      case store::ValueType::kFloat64:
        values = numpy(std::move(doubles));
        break;
      case store::ValueType::kInt64:
        values = numpy(std::move(ints));
        break;
      case store::ValueType::kUint64:
        values = numpy(std::move(words));
        break;
      case store::ValueType::kBool:
        values = numpy(std::move(flags));
        break;
      default:
        values = numpy(std::move(floats));
    }
    return nb::make_tuple(numpy(std::move(columns.steps)), numpy(std::move(columns.wall_times)),
                          values);
  }

  // Steps and wall times of anything that is not a scalar; value() takes the index into them.
  nb::tuple points(const std::string& run, const std::string& tag, bool all) const {
    Columns columns;
    for (const store::BlobPoint& point : points_of(find(run, tag), all)) {
      columns.steps.push_back(point.step);
      columns.wall_times.push_back(point.wall_time);
    }
    return nb::make_tuple(numpy(std::move(columns.steps)), numpy(std::move(columns.wall_times)));
  }

  // One value decoded: list of bytes for images, audio, graphs and texts, an array for the rest.
  nb::object value(const std::string& run, const std::string& tag, size_t index, bool all) const {
    const Series& one = find(run, tag);
    const std::vector<store::BlobPoint> points = points_of(one, all);
    if (index >= points.size()) throw nb::index_error("the series has no such point");
    Result<std::string> event;
    {
      nb::gil_scoped_release unlocked;
      event = store_->blobs().event(points[index].where);
    }
    if (!event) throw nb::value_error(event.error().text.c_str());
    const auto found = event::find_value(as_bytes(*event), points[index].where.value);
    if (!found) throw nb::value_error(found.error().text.c_str());
    return decoded(*found, one.metadata());
  }

 private:
  static nb::object decoded(const event::ValueView& value, const store::Metadata& about) {
    if (about.plugin == "histograms") {
      if (auto rows = event::histogram(value)) {
        std::vector<double> flat;
        for (const event::Bucket& b : *rows) flat.insert(flat.end(), {b.left, b.right, b.count});
        return numpy(std::move(flat), {rows->size(), 3});
      }
    }
    if (about.data_class == store::DataClass::kBlobSequence) {
      if (auto items = event::blob_sequence(value, about.plugin)) return as_list(items->items);
    }
    if (value.kind == event::ValueKind::kTensor) {
      const auto tensor = event::parse_tensor(value.body);
      if (tensor && tensor->dtype == event::DataType::kString) {
        if (auto cells = event::decode_strings(*tensor)) return as_list(*cells);
      } else if (tensor) {
        if (auto numbers = event::decode_doubles(*tensor)) {
          std::vector<size_t> shape;
          for (const int64_t d : tensor->dims) shape.push_back(static_cast<size_t>(d));
          return numpy(std::move(*numbers), shape);
        }
      }
    }
    const std::string raw(as_text(value.body));
    return bytes(raw);
  }

  static nb::list as_list(const std::vector<std::string_view>& items) {
    nb::list out;
    for (const std::string_view item : items) out.append(nb::bytes(item.data(), item.size()));
    return out;
  }

  static std::vector<store::BlobPoint> points_of(const Series& one, bool all) {
    std::vector<store::BlobPoint> out;
    for (const store::Range range : one.ranges(all ? View::kAll : View::kNewest)) {
      const auto part = one.points(range);
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }

  const Series& find(const std::string& run, const std::string& tag) const {
    const store::RunSnapshot* found = snapshot_->find(run);
    const Series* one = found != nullptr ? found->find(tag) : nullptr;
    if (one == nullptr) throw nb::key_error(("no tag '" + tag + "' in run '" + run + "'").c_str());
    return *one;
  }

  std::unique_ptr<store::Store> store_;
  std::shared_ptr<const store::Snapshot> snapshot_;
};

}  // namespace

void bind_reader(nb::module_& m) {
  nb::class_<Log>(m, "Log")
      .def(nb::init<const std::string&>(), nb::arg("folder"))
      .def("runs", &Log::runs)
      .def("series", &Log::series)
      .def("damage", &Log::damage)
      .def("scalars", &Log::scalars, nb::arg("run"), nb::arg("tag"), nb::arg("all") = false)
      .def("points", &Log::points, nb::arg("run"), nb::arg("tag"), nb::arg("all") = false)
      .def("value", &Log::value, nb::arg("run"), nb::arg("tag"), nb::arg("index"),
           nb::arg("all") = false);
}

}  // namespace sonde::python
