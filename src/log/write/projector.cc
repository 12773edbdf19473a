#include "log/write/projector.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "image/png_encode.h"
#include "log/write/media.h"
#include "log/write/values.h"

namespace sonde::writer {
namespace {

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (file == nullptr)
    return fail(Code::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !whole || std::rename(beside.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(beside.c_str());
    return fail(Code::kIo, fmt::format("cannot write {}: {}", path, why));
  }
  return {};
}

// A name that is one path component: torch's rule, percent codes for what a path would split.
std::string as_folder(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '%' || c == '/' || c == '\\') {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  if (out.empty() || out == "." || out == "..") out = "embedding" + out;
  return out;
}

std::string tsv_cell(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return out;
}

std::string tsv_row(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) out += (i > 0 ? "\t" : "") + tsv_cell(cells[i]);
  return out + "\n";
}

std::string pbtxt_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace

Result<std::string> sprite_png(const Array& images, bool torch_scale) {
  if (images.shape.size() != 4 || images.count() == 0)
    return fail(Code::kInvalid,
                "thumbnails have the shape [n, h, w, c], not " + shape_text(images.shape));
  const auto n = static_cast<size_t>(images.shape[0]);
  const auto h = static_cast<size_t>(images.shape[1]), w = static_cast<size_t>(images.shape[2]);
  const auto c = static_cast<size_t>(images.shape[3]);
  const auto columns = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  const std::vector<uint8_t> bytes =
      to_bytes(images, torch_scale ? Scale::kTorch : Scale::kTensorFlow);
  std::vector<uint8_t> sheet(columns * columns * h * w * c, 0);
  for (size_t i = 0; i < n; ++i) {
    const size_t x = i % columns * w, y = i / columns * h;
    for (size_t row = 0; row < h; ++row)
      std::memcpy(&sheet[((y + row) * columns * w + x) * c], &bytes[(i * h + row) * w * c], w * c);
  }
  return image::encode_png({std::as_bytes(std::span(sheet)), static_cast<uint32_t>(columns * w),
                            static_cast<uint32_t>(columns * h), static_cast<uint32_t>(c)});
}

Result<ProjectorEntry> write_embedding(const std::string& folder, const Embedding& embedding) {
  const Array& vectors = embedding.vectors;
  if (vectors.shape.size() != 2)
    return fail(Code::kInvalid,
                "an embedding has the shape [n, d], not " + shape_text(vectors.shape));
  const auto rows = static_cast<size_t>(vectors.shape[0]);
  if (!embedding.metadata.empty() && embedding.metadata.size() != rows)
    return fail(Code::kInvalid, fmt::format("an embedding of {} rows has {} rows of metadata", rows,
                                            embedding.metadata.size()));
  const std::string place = fmt::format("{:05}/{}", embedding.step, as_folder(embedding.name));
  std::error_code made;
  std::filesystem::create_directories(folder + "/" + place, made);
  ProjectorEntry entry;
  entry.tensor_name = fmt::format("{}:{:05}", embedding.name, embedding.step);
  std::string tsv;
  for (size_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < vectors.shape[1]; ++c) {
      const double x =
          element(vectors, r * static_cast<size_t>(vectors.shape[1]) + static_cast<size_t>(c));
      if (c > 0) tsv.push_back('\t');
      tsv += vectors.type == DataType::kFloat32 ? fmt::format("{}", static_cast<float>(x))
                                                : fmt::format("{}", x);
    }
    tsv.push_back('\n');
  }
  entry.tensor_path = place + "/tensors.tsv";
  if (auto done = write_file(folder + "/" + entry.tensor_path, tsv); !done)
    return fail(done.error());
  if (!embedding.metadata.empty()) {
    std::string labels;
    if (!embedding.metadata_header.empty()) labels = tsv_row(embedding.metadata_header);
    for (const auto& row : embedding.metadata) labels += tsv_row(row);
    entry.metadata_path = place + "/metadata.tsv";
    if (auto done = write_file(folder + "/" + entry.metadata_path, labels); !done)
      return fail(done.error());
  }
  if (embedding.images) {
    if (embedding.images->shape.size() != 4 || embedding.images->shape[0] != vectors.shape[0])
      return fail(Code::kInvalid, "an embedding needs as many thumbnails as rows");
    SONDE_TRY(png, sprite_png(*embedding.images, false));
    entry.sprite_path = place + "/sprite.png";
    entry.sprite_size = {static_cast<uint32_t>(embedding.images->shape[2]),
                         static_cast<uint32_t>(embedding.images->shape[1])};
    if (auto done = write_file(folder + "/" + entry.sprite_path, png); !done)
      return fail(done.error());
  }
  return entry;
}

Result<void> write_projector_config(const std::string& folder,
                                    const std::vector<ProjectorEntry>& entries) {
  std::string out;
  const auto path = [&](std::string_view field, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {}: {}\n", field, pbtxt_string(value));
  };
  for (const ProjectorEntry& entry : entries) {
    out += "embeddings {\n";
    path("tensor_name", entry.tensor_name);
    path("metadata_path", entry.metadata_path);
    path("bookmarks_path", entry.bookmarks_path);
    for (const uint32_t d : entry.tensor_shape) out += fmt::format("  tensor_shape: {}\n", d);
    if (!entry.sprite_path.empty()) {
      out += fmt::format("  sprite {{\n    image_path: {}\n", pbtxt_string(entry.sprite_path));
      for (const uint32_t d : entry.sprite_size)
        out += fmt::format("    single_image_dim: {}\n", d);
      out += "  }\n";
    }
    path("tensor_path", entry.tensor_path);
    out += "}\n";
  }
  return write_file(folder + "/projector_config.pbtxt", out);
}

}  // namespace sonde::writer
