#include "tests/support/log_maker.h"

#include <stdlib.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/crc32c.h"
#include "base/strings.h"
#include "codec/wire.h"
#include "image/png_encode.h"
#include "tests/support/debug_dump.h"

namespace sonde::test {
namespace {

template <class Fn>
std::string event(Step step, double wall, Fn&& body) {
  std::string out;
  wire::Encoder encoder(out);
  encoder.real(1, wall);
  if (step != 0) encoder.varint(2, static_cast<uint64_t>(step));
  body(encoder);
  return out;
}

void metadata(wire::Encoder& value, std::string_view plugin, std::string_view content,
              int data_class, std::string_view description = "") {
  value.message(9, [&](wire::Encoder& m) {
    m.message(1, [&](wire::Encoder& p) {
      p.bytes(1, plugin);
      if (!content.empty()) p.bytes(2, content);
    });
    if (!description.empty()) m.bytes(3, description);
    m.varint(4, static_cast<uint64_t>(data_class));
  });
}

void shape(wire::Encoder& tensor, const std::vector<int64_t>& dims) {
  tensor.message(2, [&](wire::Encoder& s) {
    for (const int64_t dim : dims)
      s.message(2, [&](wire::Encoder& d) { d.varint(1, static_cast<uint64_t>(dim)); });
  });
}

std::string word(std::string_view& rest) {
  rest = trimmed(rest);
  const size_t end = rest.starts_with('"') ? rest.find('"', 1) + 1 : rest.find_first_of(" ,\n");
  std::string found(rest.substr(0, end));
  rest.remove_prefix(std::min(rest.size(), end == rest.npos ? rest.size() : end));
  if (found.size() >= 2 && found.front() == '"') found = found.substr(1, found.size() - 2);
  return found;
}

double number(std::string_view& rest) {
  const std::string text = word(rest);
  if (text == "nan") return NAN;
  if (text == "inf") return INFINITY;
  if (text == "-inf") return -INFINITY;
  return std::strtod(text.c_str(), nullptr);
}

Step step_of(std::string_view& rest) { return std::strtoll(word(rest).c_str(), nullptr, 10); }

// Points are separated by commas outside quotes.
std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> list;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i == text.size() || (text[i] == ',' && !quoted)) {
      list.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return list;
}

std::string text_with_breaks(std::string text) {
  for (size_t at; (at = text.find("\\n")) != text.npos;) text.replace(at, 2, "\n");
  return text;
}

// A session of the hparams plug-in: `hparams <group> name value, name value`.
std::string hparams_event(const std::string& group, std::string_view pairs) {
  std::string content;
  wire::Encoder encoder(content);
  encoder.message(3, [&](wire::Encoder& start) {
    for (std::string_view rest : parts(pairs)) {
      start.message(1, [&](wire::Encoder& entry) {
        entry.bytes(1, word(rest));
        const std::string_view value = trimmed(rest);
        entry.message(2, [&](wire::Encoder& v) {
          if (value.starts_with('"')) return v.bytes(3, value.substr(1, value.size() - 2));
          if (value == "true" || value == "false") return v.varint(4, value == "true");
          v.real(2, std::strtod(std::string(value).c_str(), nullptr));
        });
      });
    }
    if (group != "-") start.bytes(4, group);
  });
  return floats_event("_hparams_/session_start_info", 0, kT0, {"hparams", content, {}, {0}, "", 2});
}

// `layout <category> "chart" "regex" …`
std::string layout_event(const std::string& category, std::string_view rest) {
  std::string layout;
  wire::Encoder encoder(layout);
  encoder.message(2, [&](wire::Encoder& c) {
    c.bytes(1, category);
    c.message(2, [&](wire::Encoder& chart) {
      chart.bytes(1, word(rest));
      chart.message(2, [&](wire::Encoder& lines) {
        while (!trimmed(rest).empty()) lines.bytes(1, word(rest));
      });
    });
  });
  return strings_event("custom_scalars__config__", 0, kT0, {"custom_scalars", "", {layout}, {}});
}

// One part of a mesh with one sample: `vertex|face|colour <name> step x y z …`
std::string mesh_event(const std::string& kind, const std::string& name, std::string_view rest) {
  const uint64_t type = kind == "vertex" ? 1 : kind == "face" ? 2 : 3;
  std::string content;
  wire::Encoder encoder(content);
  encoder.bytes(2, name);
  encoder.varint(3, type);
  encoder.bytes(5, R"({"camera":{"fov":60}})");
  const Step step = step_of(rest);
  Floats floats{"mesh", content, {}, {}, "", 2};
  while (!trimmed(rest).empty()) floats.values.push_back(number(rest));
  floats.dims = {1, static_cast<int64_t>(floats.values.size() / 3), 3};
  const char* ending = type == 1 ? "_VERTEX" : type == 2 ? "_FACE" : "_COLOR";
  return floats_event(name + ending, step, kT0 + static_cast<double>(step), floats);
}

// Payloads of one `<kind> <tag> point, point` clause.
std::vector<std::string> payloads(const std::string& kind, const std::string& tag,
                                  std::string_view points) {
  std::vector<std::string> out;
  if (kind == "hparams") return {hparams_event(tag, points)};
  if (kind == "layout") return {layout_event(tag, points)};
  for (std::string_view rest : parts(points)) {
    if (kind == "vertex" || kind == "face" || kind == "colour") {
      out.push_back(mesh_event(kind, tag, rest));
      continue;
    }
    const Step step = step_of(rest);
    const double wall = kT0 + static_cast<double>(step);
    if (kind == "scalar") {
      out.push_back(scalar_event(tag, step, wall, static_cast<float>(number(rest))));
    } else if (kind == "double") {
      out.push_back(double_event(tag, step, wall, number(rest)));
    } else if (kind == "image") {  // step width height samples
      const auto width = static_cast<uint32_t>(number(rest));
      const auto height = static_cast<uint32_t>(number(rest));
      const auto samples = static_cast<int>(number(rest));
      Strings strings{"images", "", {std::to_string(width), std::to_string(height)}, {}};
      for (int i = 0; i < samples; ++i)
        strings.values.push_back(png(width, height, static_cast<uint8_t>(10 * step + 50 * i)));
      strings.dims = {static_cast<int64_t>(strings.values.size())};
      out.push_back(strings_event(tag, step, wall, strings));
    } else if (kind == "audio") {  // step rate frames label
      const auto rate = static_cast<uint32_t>(number(rest));
      const auto frames = static_cast<uint32_t>(number(rest));
      const std::string label = word(rest);
      out.push_back(
          strings_event(tag, step, wall, {"audio", "", {wav(rate, frames), label}, {1, 2}}));
    } else if (kind == "text") {  // step "cell" "cell" ...
      Strings strings{"text", "", {}, {}};
      while (!trimmed(rest).empty()) strings.values.push_back(text_with_breaks(word(rest)));
      if (strings.values.size() > 1) strings.dims = {static_cast<int64_t>(strings.values.size())};
      out.push_back(strings_event(tag, step, wall, strings));
    } else if (kind == "histogram") {  // step left right count ...
      Floats floats{"histograms", "", {}, {}, "", 2};
      while (!trimmed(rest).empty()) floats.values.push_back(number(rest));
      floats.dims = {static_cast<int64_t>(floats.values.size() / 3), 3};
      out.push_back(floats_event(tag, step, wall, floats));
    } else if (kind ==
               "pr") {  // step then rows tp fp tn fn precision recall, threshold by threshold
      Floats floats{"pr_curves", "", {}, {}, "", 2};
      std::vector<double> given;
      while (!trimmed(rest).empty()) given.push_back(number(rest));
      const size_t n = given.size() / 6;
      for (size_t row = 0; row < 6; ++row) {
        for (size_t i = 0; i < n; ++i) floats.values.push_back(given[i * 6 + row]);
      }
      floats.dims = {6, static_cast<int64_t>(n)};
      out.push_back(floats_event(tag, step, wall, floats));
    }
  }
  return out;
}

}  // namespace

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "sonde-test-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string frame(std::string_view payload) {
  const auto length = static_cast<uint64_t>(payload.size());
  std::string head(reinterpret_cast<const char*>(&length), 8);
  const uint32_t head_crc = masked_crc32c(as_bytes(head));
  const uint32_t body_crc = masked_crc32c(as_bytes(payload));
  head.append(reinterpret_cast<const char*>(&head_crc), 4).append(payload);
  return head.append(reinterpret_cast<const char*>(&body_crc), 4);
}

std::string version_event(double wall) {
  return event(0, wall, [](wire::Encoder& e) { e.bytes(3, "brain.Event:2"); });
}

std::string scalar_event(std::string_view tag, Step step, double wall, float value) {
  return event(step, wall, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        v.real32(2, value);
      });
    });
  });
}

std::string double_event(std::string_view tag, Step step, double wall, double value) {
  return event(step, wall, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        metadata(v, "scalars", "", 1);
        v.message(8, [&](wire::Encoder& tensor) {
          tensor.varint(1, 2);
          shape(tensor, {});
          tensor.bytes(4, {reinterpret_cast<const char*>(&value), sizeof value});
        });
      });
    });
  });
}

std::string strings_event(std::string_view tag, Step step, double wall, const Strings& strings) {
  const int data_class = strings.plugin == "images" || strings.plugin == "audio" ? 3 : 2;
  return event(step, wall, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        metadata(v, strings.plugin, strings.content, data_class);
        v.message(8, [&](wire::Encoder& tensor) {
          tensor.varint(1, 7);
          shape(tensor, strings.dims);
          for (const std::string& value : strings.values) tensor.bytes(8, value);
        });
      });
    });
  });
}

std::string floats_event(std::string_view tag, Step step, double wall, const Floats& floats) {
  return event(step, wall, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& v) {
        v.bytes(1, tag);
        metadata(v, floats.plugin, floats.content, floats.data_class, floats.description);
        v.message(8, [&](wire::Encoder& tensor) {
          tensor.varint(1, 2);
          shape(tensor, floats.dims);
          tensor.bytes(4, {reinterpret_cast<const char*>(floats.values.data()),
                           floats.values.size() * sizeof(double)});
        });
      });
    });
  });
}

std::string png(uint32_t width, uint32_t height, uint8_t shade) {
  std::string pixels(size_t{3} * width * height, static_cast<char>(shade));
  return *image::encode_png({as_bytes(pixels), width, height, 3});
}

std::string wav(uint32_t rate, uint32_t frames) {
  std::string out;
  const auto put = [&](auto value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  out += "RIFF";
  put(uint32_t{36 + frames * 2});
  out += "WAVEfmt ";
  put(uint32_t{16});
  put(uint16_t{1});
  put(uint16_t{1});
  put(rate);
  put(uint32_t{rate * 2});
  put(uint16_t{2});
  put(uint16_t{16});
  out += "data";
  put(uint32_t{frames * 2});
  for (uint32_t i = 0; i < frames; ++i) put(static_cast<int16_t>(i % 2 ? -8192 : 16384));
  return out;
}

// A tensor that reaches zero in its second step, and the log of it.
static void make_dump(const std::filesystem::path& folder) {
  testing::DumpMaker maker(folder);
  maker.source("/project/loss.py", {"def loss(p):", "    return log(p)"});
  maker.frame("f1", 0, 2, "loss");
  maker.graph("g", "step");
  maker.op("g", "Softmax", "p");
  maker.op("g", "Log", "log", {"p:0"}, {"f1"});
  for (const double zeros : {0.0, 1.0}) {
    maker.trace("g", "p", 4, testing::full_health(4, 0, 0, 0, zeros));
    maker.trace("g", "log", 4, testing::full_health(4, zeros, 0, 0));
    maker.execution("__inference_step_1", 4, {testing::full_health(4, zeros, 0, 0)},
                    {{1}, {2}, {"f1"}, "g"});
  }
}

std::string make(const std::filesystem::path& root, std::string_view line) {
  std::string_view rest = trimmed(line);
  const std::string what = word(rest);
  if (what == "file") {  // file <path>: <content>
    std::string name = word(rest);
    if (name.ends_with(':')) name.pop_back();
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text_with_breaks(std::string(trimmed(rest))) << "\n";
    return "";
  }
  if (what == "dump") {  // dump <folder>
    std::string name = word(rest);
    make_dump(name == "." ? root : root / name);
    return "";
  }
  if (what != "run") return "a line begins with run, file or dump";
  std::string run = word(rest);
  if (!run.ends_with(':')) return "the name of a run ends with a colon";
  run.pop_back();
  const std::filesystem::path folder = run == "." ? root : root / run;
  std::filesystem::create_directories(folder);
  const auto path = folder / "events.out.tfevents.1700000000.test";
  const bool is_new = !std::filesystem::exists(path);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (is_new) file << frame(version_event(kT0));
  const std::string kind = word(rest);
  if (kind == "damage") {  // a record whose payload does not fit its checksum
    std::string bad = frame(scalar_event("lost", 1, kT0 + 1, 1));
    bad[14] ^= 1;
    file << bad;
    return "";
  }
  const std::string tag = word(rest);
  const auto list = payloads(kind, tag, rest);
  if (list.empty()) return "'" + kind + "' is not known";
  for (const std::string& payload : list) file << frame(payload);
  return "";
}

}  // namespace sonde::test
