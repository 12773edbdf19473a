// Files for the embedding projector, beside the event files of a run: vectors, labels, a sprite of
// thumbnails, and the text message projector_config.pbtxt that names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sonde/writer.h"

namespace sonde::writer {

struct ProjectorEntry {
  std::string tensor_name;
  std::string tensor_path, metadata_path, bookmarks_path, sprite_path;
  std::vector<uint32_t> tensor_shape;
  std::vector<uint32_t> sprite_size;  // width, height of one thumbnail
};

// Writes the embedding's own files below `folder` and returns what the config must say of them.
Result<ProjectorEntry> write_embedding(const std::string& folder, const Embedding& embedding);
// Replaces projector_config.pbtxt in one step, so that a reader never sees half of it.
Result<void> write_projector_config(const std::string& folder,
                                    const std::vector<ProjectorEntry>& entries);

// All thumbnails [n, h, w, c] in one square sheet, row by row, black where there is none, as PNG.
Result<std::string> sprite_png(const Array& images, bool torch_scale);

}  // namespace sonde::writer
