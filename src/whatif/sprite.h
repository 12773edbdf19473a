// Small copies of many images side by side in one, for points on a scatter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

inline constexpr uint32_t kThumbnail = 32;

// A PNG of ⌈√n⌉ thumbnails per line, in the order of `rows`. What is missing or broken stays black.
Result<std::string> sprite_of(const Column& images, const std::vector<uint32_t>& rows);

}  // namespace sonde::whatif
