#include "io/confine.h"

#include <filesystem>
#include <system_error>

namespace sonde::io {

Result<std::string> is_inside_root(const std::string& folder, std::string_view path) {
  namespace fs = std::filesystem;
  if (path.find('\0') != std::string_view::npos) {
    return fail(Code::kInvalid, "a path holds a NUL character");
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return fail(Code::kNotFound, folder + ": " + error.message());
  const fs::path real =
      fs::weakly_canonical(root / fs::path(path), error);  // absolute ones replace
  if (error) return fail(Code::kIo, std::string(path) + ": " + error.message());
  auto inner = real.begin();
  for (const fs::path& part : root) {
    if (inner == real.end() || *inner != part) {
      return fail(Code::kForbidden,
                  "path \"" + std::string(path) + "\" leads out of " + root.string());
    }
    ++inner;
  }
  return real.string();
}

}  // namespace sonde::io
