// Arrays to summaries and encoded media, with the GIL released while the work is done.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "arrays.h"
#include "image/gif_encode.h"
#include "image/png_encode.h"
#include "log/write/histogram.h"
#include "log/write/media.h"
#include "log/write/projector.h"
#include "log/write/values.h"

namespace sonde::python {
namespace {

template <class Fn>
auto unlocked(Fn&& fn) {
  nb::gil_scoped_release released;
  return fn();
}

nb::bytes value_or_raise(const Result<std::string>& result) {
  if (!result) throw nb::value_error(result.error().text.c_str());
  return bytes(*result);
}

writer::Scale scale_of(bool torch) {
  return torch ? writer::Scale::kTorch : writer::Scale::kTensorFlow;
}

nb::bytes png(AnyArray pixels, bool torch_scale) {
  const Array image = view(pixels);
  if (image.shape.size() != 3)
    throw nb::value_error("a picture has the shape [height, width, channels]");
  return value_or_raise(unlocked([&] {
    const std::vector<uint8_t> data = writer::to_bytes(image, scale_of(torch_scale));
    return image::encode_png({std::as_bytes(std::span(data)), static_cast<uint32_t>(image.shape[1]),
                              static_cast<uint32_t>(image.shape[0]),
                              static_cast<uint32_t>(image.shape[2])});
  }));
}

nb::bytes gif(AnyArray frames, double fps, bool torch_scale) {
  const Array film = view(frames);
  if (film.shape.size() != 4)
    throw nb::value_error("a film has the shape [frames, height, width, channels]");
  return value_or_raise(unlocked([&] {
    const std::vector<uint8_t> data = writer::to_bytes(film, scale_of(torch_scale));
    const auto side = [&](size_t axis) { return static_cast<uint32_t>(film.shape[axis]); };
    return image::encode_gif(
        {std::as_bytes(std::span(data)), side(0), side(2), side(1), side(3), fps});
  }));
}

nb::bytes wav(AnyArray samples, int sample_rate, bool torch_scale) {
  const Array clip = view(samples);
  if (clip.shape.empty() || clip.shape.size() > 2)
    throw nb::value_error("a clip has the shape [frames, channels]");
  const int64_t channels = clip.shape.size() == 2 ? clip.shape[1] : 1;
  return bytes(unlocked([&] {
    return writer::wav(clip, clip.shape[0], channels, sample_rate, scale_of(torch_scale));
  }));
}

nb::bytes sprite(AnyArray images, bool torch_scale) {
  const Array all = view(images);
  return value_or_raise(unlocked([&] { return writer::sprite_png(all, torch_scale); }));
}

// HistogramProto of raw data, or None when no element falls between the edges.
std::optional<nb::bytes> histo(AnyArray data, std::optional<AnyArray> edges,
                               std::optional<int> max_bins) {
  const Array values = view(data);
  std::vector<double> own;
  if (edges) own = writer::as_doubles(view(*edges));
  auto made = unlocked([&] {
    return writer::edge_buckets(
        values, edges ? std::span<const double>(own) : writer::growing_edges(), max_bins);
  });
  if (!made) return {};
  std::string out;
  wire::Encoder proto(out);
  const auto number = [&](uint32_t field, double x) {
    if (std::bit_cast<uint64_t>(x) != 0) proto.real(field, x);
  };
  number(1, made->min);
  number(2, made->max);
  number(3, static_cast<double>(made->num));
  number(4, made->sum);
  number(5, made->sum_squares);
  const auto column = [&](uint32_t field, const std::vector<double>& numbers) {
    proto.bytes(field,
                {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  };
  column(6, made->limits);
  column(7, made->counts);
  return bytes(out);
}

}  // namespace

void bind_encoders(nb::module_& m) {
  m.def("png", &png, nb::arg("pixels"), nb::arg("torch_scale") = false);
  m.def("gif", &gif, nb::arg("frames"), nb::arg("frames_per_s") = 4.0,
        nb::arg("torch_scale") = false);
  m.def("wav", &wav, nb::arg("samples"), nb::arg("sample_rate"), nb::arg("torch_scale") = false);
  m.def("sprite", &sprite, nb::arg("images"), nb::arg("torch_scale") = false);
  m.def("histo", &histo, nb::arg("data"), nb::arg("edges") = nb::none(),
        nb::arg("max_bins") = nb::none());
  m.def("growing_edges", [] { return writer::growing_edges(); });

  m.def(
      "scalar_summary",
      [](std::string_view tag, double value, const std::string& description) {
        return bytes_of(summary::scalar(tag, value, {description, {}}));
      },
      nb::arg("tag"), nb::arg("value"), nb::arg("description") = "");
  m.def(
      "histogram_summary",
      [](std::string_view tag, AnyArray data, int buckets, const std::string& description) {
        const Array values = view(data);
        return bytes_of(
            unlocked([&] { return summary::histogram(tag, values, buckets, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("data"), nb::arg("buckets") = 30, nb::arg("description") = "");
  m.def(
      "image_summary",
      [](std::string_view tag, AnyArray data, int max_outputs, const std::string& description) {
        const Array pixels = view(data);
        return bytes_of(
            unlocked([&] { return summary::image(tag, pixels, max_outputs, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("data"), nb::arg("max_outputs") = 3, nb::arg("description") = "");
  m.def(
      "video_summary",
      [](std::string_view tag, AnyArray data, double fps, const std::string& description) {
        const Array frames = view(data);
        return bytes_of(
            unlocked([&] { return summary::video(tag, frames, fps, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("data"), nb::arg("frames_per_s") = 4.0, nb::arg("description") = "");
  m.def(
      "audio_summary",
      [](std::string_view tag, AnyArray data, int sample_rate, int max_outputs,
         const std::string& description) {
        const Array clips = view(data);
        return bytes_of(unlocked([&] {
          return summary::audio(tag, clips, sample_rate, max_outputs, {description, {}});
        }));
      },
      nb::arg("tag"), nb::arg("data"), nb::arg("sample_rate"), nb::arg("max_outputs") = 3,
      nb::arg("description") = "");
  m.def(
      "tensor_summary",
      [](std::string_view tag, AnyArray data, const std::string& plugin, nb::bytes content,
         const std::string& description) {
        const Array values = view(data);
        const Plugin place{plugin, std::string(text(content))};
        return bytes_of(
            unlocked([&] { return summary::tensor(tag, values, place, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("data"), nb::arg("plugin") = "",
      nb::arg("content") = nb::bytes("", 0), nb::arg("description") = "");
  m.def(
      "pr_curve_summary",
      [](std::string_view tag, AnyArray labels, AnyArray predictions,
         std::optional<AnyArray> weights, int num_thresholds, const std::string& description) {
        summary::PrCurveData data{view(labels), view(predictions), {}, num_thresholds};
        if (weights) data.weights = view(*weights);
        return bytes_of(unlocked([&] { return summary::pr_curve(tag, data, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("labels"), nb::arg("predictions"), nb::arg("weights") = nb::none(),
      nb::arg("num_thresholds") = 201, nb::arg("description") = "");
  m.def(
      "mesh_summary",
      [](std::string_view tag, AnyArray vertices, std::optional<AnyArray> faces,
         std::optional<AnyArray> colors, const std::string& json_config,
         const std::string& description) {
        Mesh mesh{view(vertices), {}, {}, json_config};
        if (faces) mesh.faces = view(*faces);
        if (colors) mesh.colors = view(*colors);
        return bytes_of(unlocked([&] { return summary::mesh(tag, mesh, {description, {}}); }));
      },
      nb::arg("tag"), nb::arg("vertices"), nb::arg("faces") = nb::none(),
      nb::arg("colors") = nb::none(), nb::arg("json_config") = "", nb::arg("description") = "");
}

}  // namespace sonde::python
