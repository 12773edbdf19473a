// Where the projector's embeddings come from: a projector_config.pbtxt beside a run (or in its
// plugins folder), files it names, and the matrices of the newest checkpoint. Every file lies in
// the config's folder and every checkpoint below the log directory; what leads elsewhere is
// refused.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/files/checkpoint.h"

namespace sonde::embed::projector {

struct Embedding {
  std::string name;
  std::string metadata_path, bookmarks_path, tensor_path, sprite_path;  // as the config states them
  std::vector<uint32_t> shape;        // rows, columns; empty when unknown
  std::vector<uint32_t> sprite_size;  // of one image
  uint64_t file_mark = 0;  // of the tensor file whose shape was read; another content, another mark
};

// One entry of the projector's list of runs.
struct Source {
  std::string run;
  std::string folder;       // of the config; files are relative to it
  std::string config_path;  // where the config is or would be
  std::string checkpoint;   // prefix; empty when there is none
  std::vector<Embedding> embeddings;
  std::shared_ptr<const Checkpoint> tensors;  // of the checkpoint
  std::string problem;                        // why the config or checkpoint could not be read

  const Embedding* find(std::string_view name) const;  // "x" and "x:0" are the same
};

struct Place {
  std::string run, folder;
  std::string root;  // the log directory the folder belongs to
};

enum class Keep : uint8_t {
  kUseful,    // sources with an embedding
  kProblems,  // also those that have none because something could not be read
};

// The sources of these places, in their order, without those that have no embedding. Shapes of
// tensor files that have not changed are taken from `earlier` instead of reading the files again.
std::vector<Source> sources(const std::vector<Place>& places,
                            const std::vector<Source>* earlier = nullptr,
                            Keep keep = Keep::kUseful);

struct Matrix {
  std::vector<float> values;  // row-major
  uint64_t rows = 0, columns = 0;
};

// The first `rows` rows (0 = all) of an embedding, from its file or the checkpoint. kForbidden: its
// path leads out of the config's folder; kNotFound; kCorrupt.
Result<Matrix> matrix(const Source& source, std::string_view name, uint64_t rows);

// Tab-separated numbers, one row a line; kInvalid when ragged or no numbers.
Result<Matrix> parse_tsv(std::string_view text, uint64_t rows = 0);

// The path of a file the config names. kForbidden as above.
Result<std::string> asset(const Source& source, std::string_view path);

}  // namespace sonde::embed::projector
