#include "embed/files/projector.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/strings.h"
#include "codec/text_proto.h"
#include "embed/files/vectors.h"
#include "io/confine.h"
#include "io/file.h"

namespace sonde::embed::projector {
namespace {

constexpr std::string_view kConfigName = "projector_config.pbtxt";
constexpr std::string_view kAssets = "/plugins/org_tensorflow_tensorboard_projector";
constexpr uint64_t kMaxConfig = 16 << 20;
constexpr uint64_t kMaxTensorFile = uint64_t{2} << 30;

std::vector<uint32_t> numbers(const TextMessage& message, std::string_view name) {
  std::vector<uint32_t> found;
  for (const TextMessage::Field* field : message.all(name)) {
    uint32_t value = 0;
    const std::string& text = field->value;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
      found.push_back(value);
  }
  return found;
}

Embedding embedding_of(const TextMessage& message) {
  Embedding embedding;
  embedding.name = message.text("tensor_name");
  embedding.metadata_path = message.text("metadata_path");
  embedding.bookmarks_path = message.text("bookmarks_path");
  embedding.tensor_path = message.text("tensor_path");
  embedding.shape = numbers(message, "tensor_shape");
  for (const TextMessage::Field* sprite : message.all("sprite")) {
    if (!sprite->is_message()) continue;
    embedding.sprite_path = sprite->messages[0].text("image_path");
    embedding.sprite_size = numbers(sprite->messages[0], "single_image_dim");
  }
  if (embedding.name.empty() && !embedding.tensor_path.empty()) {
    embedding.name = embedding.tensor_path.substr(embedding.tensor_path.rfind('/') + 1);
  }
  if (embedding.name.ends_with(":0")) embedding.name.resize(embedding.name.size() - 2);
  return embedding;
}

void read_config(Source& source) {
  const auto text = io::read_file(source.config_path, kMaxConfig);
  if (!text) return;
  const auto config = parse_text_proto(*text);
  if (!config) {
    source.problem = source.config_path + ": " + config.error().text;
    return;
  }
  source.checkpoint = config->text("model_checkpoint_path");
  for (const TextMessage::Field* field : config->all("embeddings")) {
    if (field->is_message()) source.embeddings.push_back(embedding_of(field->messages[0]));
  }
}

// The checkpoint the config names, or the newest beside the run or one folder up.
void find_checkpoint(Source& source, const Place& place) {
  if (!source.checkpoint.empty()) {
    const auto inside = io::is_inside_root(
        place.root, source.checkpoint.starts_with('/') ? source.checkpoint
                                                       : source.folder + "/" + source.checkpoint);
    if (!inside) source.problem = inside.error().text;
    source.checkpoint = inside ? *inside : std::string();
    return;
  }
  source.checkpoint = latest_checkpoint(place.folder, place.root);
  if (!source.checkpoint.empty()) return;
  if (const auto above = io::is_inside_root(place.root, place.folder + "/..")) {
    source.checkpoint = latest_checkpoint(*above, place.root);
  }
}

// Adds the matrices of the checkpoint. A first embedding without a name is a pattern for them.
void add_checkpoint_tensors(Source& source) {
  auto opened = Checkpoint::open(source.checkpoint);
  if (!opened) {
    source.problem = opened.error().text;
    return;
  }
  source.tensors = std::make_shared<const Checkpoint>(std::move(*opened));
  Embedding pattern;
  if (!source.embeddings.empty() && source.embeddings[0].name.empty()) {
    pattern = source.embeddings[0];
    source.embeddings.erase(source.embeddings.begin());
  }
  for (const auto& [name, entry] : source.tensors->tensors()) {
    if (entry.shape.size() != 2 || name.find(".OPTIMIZER_SLOT") != std::string::npos) continue;
    const auto known = std::find_if(source.embeddings.begin(), source.embeddings.end(),
                                    [&](const Embedding& e) { return e.name == name; });
    Embedding* embedding = known == source.embeddings.end() ? nullptr : &*known;
    if (!embedding) {
      embedding = &source.embeddings.emplace_back();
      embedding->name = name;
      embedding->metadata_path = pattern.metadata_path;
      embedding->bookmarks_path = pattern.bookmarks_path;
    }
    if (embedding->shape.empty()) {
      embedding->shape = {static_cast<uint32_t>(entry.shape[0]),
                          static_cast<uint32_t>(entry.shape[1])};
    }
  }
}

Result<Matrix> matrix_of_file(const Source& source, const Embedding& embedding, uint64_t rows) {
  SONDE_TRY(const path, asset(source, embedding.tensor_path));
  auto text = io::read_file(path, kMaxTensorFile);
  if (!text) {
    if (text.error().code == Code::kNotFound) {
      return fail(Code::kNotFound, "Tensor file \"" + path + "\" does not exist");
    }
    return fail(text.error());
  }
  if (is_npy(*text)) return parse_npy(*text, rows);
  if (is_utf8(*text)) return parse_tsv(*text, rows);
  // Raw floats; only the config knows their shape.
  if (embedding.shape.size() != 2) {
    return fail(Code::kInvalid, "tensor \"" + embedding.name +
                                    "\": a file of raw floats needs tensor_shape in the config");
  }
  Matrix matrix;
  matrix.rows = embedding.shape[0];
  matrix.columns = embedding.shape[1];
  if (static_cast<__uint128_t>(matrix.rows) * matrix.columns * sizeof(float) != text->size()) {
    return fail(Code::kInvalid, "tensor \"" + embedding.name +
                                    "\": the file does not have the size of tensor_shape");
  }
  if (rows > 0) matrix.rows = std::min(matrix.rows, rows);
  matrix.values.resize(matrix.rows * matrix.columns);
  std::memcpy(matrix.values.data(), text->data(), matrix.values.size() * sizeof(float));
  return matrix;
}

uint64_t mark_of(const std::string& path) {
  const auto stat = io::stat_of(path);
  if (!stat) return 0;
  return (static_cast<uint64_t>(stat->mtime_ns) ^ (stat->size << 20)) | 1;
}

// The shape is in the file itself; one that cannot be read stays listed, without a shape.
void find_shape(const Source& source, Embedding& embedding, const std::vector<Source>* earlier) {
  const auto path = asset(source, embedding.tensor_path);
  if (!path) return;
  embedding.file_mark = mark_of(*path);
  if (embedding.file_mark == 0) return;
  for (const Source& before : earlier ? *earlier : std::vector<Source>()) {
    if (before.config_path != source.config_path) continue;
    for (const Embedding& known : before.embeddings) {
      if (known.tensor_path != embedding.tensor_path || known.file_mark != embedding.file_mark)
        continue;
      embedding.shape = known.shape;
      return;
    }
  }
  if (const auto loaded = matrix_of_file(source, embedding, 0)) {
    embedding.shape = {static_cast<uint32_t>(loaded->rows), static_cast<uint32_t>(loaded->columns)};
  }
}

Source source_at(const Place& place, const std::string& folder,
                 const std::vector<Source>* earlier) {
  Source source;
  source.run = place.run;
  source.folder = folder;
  source.config_path = folder + "/" + std::string(kConfigName);
  read_config(source);
  find_checkpoint(source, place);
  if (!source.checkpoint.empty()) add_checkpoint_tensors(source);
  for (Embedding& embedding : source.embeddings) {
    if (!embedding.tensor_path.empty() && embedding.shape.empty())
      find_shape(source, embedding, earlier);
  }
  return source;
}

std::string canonical(std::string_view name) {
  return std::string(name) + (name.find(':') == std::string_view::npos ? ":0" : "");
}

}  // namespace

const Embedding* Source::find(std::string_view name) const {
  for (const Embedding& embedding : embeddings) {
    if (canonical(embedding.name) == canonical(name)) return &embedding;
  }
  return nullptr;
}

std::vector<Source> sources(const std::vector<Place>& places, const std::vector<Source>* earlier,
                            Keep keep) {
  std::vector<Source> found;
  for (const Place& place : places) {
    Source source = source_at(place, place.folder, earlier);
    const std::string assets = place.folder + std::string(kAssets);
    if (io::stat_of(assets + "/" + std::string(kConfigName)))
      source = source_at(place, assets, earlier);
    const bool has_data =
        std::any_of(source.embeddings.begin(), source.embeddings.end(),
                    [&](const Embedding& e) { return !e.tensor_path.empty() || source.tensors; });
    const bool is_told = keep == Keep::kProblems && !source.problem.empty();
    if (!has_data) source.embeddings.clear();
    if (has_data || is_told) found.push_back(std::move(source));
  }
  return found;
}

Result<Matrix> parse_tsv(std::string_view text, uint64_t rows) {
  Matrix matrix;
  for (size_t at = 0; at < text.size() && (rows == 0 || matrix.rows < rows);) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    uint64_t columns = 0;
    for (size_t start = 0; start <= line.size(); ++columns) {
      const size_t tab = std::min(line.find('\t', start), line.size());
      std::string_view cell = trimmed(line.substr(start, tab - start));
      if (cell.starts_with('+')) cell.remove_prefix(1);
      double value = 0;
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (cell.empty() || error == std::errc::invalid_argument ||
          stop != cell.data() + cell.size()) {
        return fail(Code::kInvalid, "row " + std::to_string(matrix.rows + 1) + " holds \"" +
                                        std::string(cell.substr(0, 40)) + "\", which is no number");
      }
      matrix.values.push_back(static_cast<float>(value));
      start = tab + 1;
    }
    if (matrix.rows > 0 && columns != matrix.columns) {
      return fail(Code::kInvalid, "row " + std::to_string(matrix.rows + 1) + " has " +
                                      std::to_string(columns) + " numbers, the rows before have " +
                                      std::to_string(matrix.columns));
    }
    matrix.columns = columns;
    ++matrix.rows;
  }
  return matrix;
}

Result<std::string> asset(const Source& source, std::string_view path) {
  auto inside = io::is_inside_root(source.folder, path);
  if (!inside && inside.error().code == Code::kForbidden) {
    return fail(Code::kForbidden,
                "Asset path \"" + std::string(path) + "\" resolves outside the config directory");
  }
  return inside;
}

Result<Matrix> matrix(const Source& source, std::string_view name, uint64_t rows) {
  const Embedding* embedding = source.find(name);
  if (embedding && !embedding->tensor_path.empty()) return matrix_of_file(source, *embedding, rows);
  const std::string wanted = embedding ? embedding->name : std::string(name);
  const Checkpoint::Entry* entry = nullptr;
  if (source.tensors) {
    const auto found = source.tensors->tensors().find(wanted);
    if (found != source.tensors->tensors().end()) entry = &found->second;
  }
  if (!entry) {
    return fail(Code::kNotFound, "Tensor \"" + std::string(name) +
                                     "\" not found in checkpoint dir \"" + source.checkpoint +
                                     "\"");
  }
  SONDE_TRY(values, source.tensors->matrix(wanted, rows));
  Matrix result;
  result.columns = static_cast<uint64_t>(entry->shape[1]);
  result.rows = result.columns == 0 ? 0 : values.size() / result.columns;
  result.values = std::move(values);
  return result;
}

}  // namespace sonde::embed::projector
