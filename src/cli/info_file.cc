#include "cli/info_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include "codec/base64.h"
#include "sonde/version.h"

namespace sonde::cli {
namespace {

// JSON text as Python's json.dumps writes it: everything beyond ASCII as \uXXXX.
std::string ascii_json(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    uint32_t code = byte < 0x80 ? byte : byte & (0x7fu >> length);
    bool valid = length > 0 && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = (next & 0xc0) == 0x80;
      code = code << 6 | (next & 0x3f);
    }
    if (!valid) {  // Python's file names carry a stray byte as a lone surrogate
      code = 0xdc00u + byte;
      length = 1;
    }
    i += length;
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n' || code == '\r' || code == '\t' || code == '\b' || code == '\f') {
      out += '\\';
      out += code == '\n'   ? 'n'
             : code == '\r' ? 'r'
             : code == '\t' ? 't'
             : code == '\b' ? 'b'
                            : 'f';
    } else if (code >= 0x20 && code < 0x7f) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      code -= 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
  }
  return out + "\"";
}

// Python's tempfile.gettempdir().
std::string temporary_directory() {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    const char* value = std::getenv(name);
    if (value && *value && access(value, W_OK | X_OK) == 0) return value;
  }
  for (const char* path : {"/tmp", "/var/tmp", "/usr/tmp"}) {
    if (access(path, W_OK | X_OK) == 0) return path;
  }
  return ".";
}

}  // namespace

std::string cache_key(const Args& arguments, const std::string& working_directory) {
  std::string json = "{\"arguments\":[";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) json += ',';
    json += ascii_json(arguments[i]);
  }
  json += "],\"configure_kwargs\":{},\"working_directory\":" + ascii_json(working_directory) + "}";
  return base64(json);
}

InfoFile::InfoFile(const Instance& instance) {
  const std::string folder = temporary_directory() + "/.tensorboard-info";
  if (mkdir(folder.c_str(), 0777) == 0) chmod(folder.c_str(), 0777);  // for all users, as Python's
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  const std::string text = fmt::format(
      "{{\n    \"cache_key\": {},\n    \"db\": \"\",\n    \"logdir\": {},\n    \"path_prefix\": "
      "{},\n"
      "    \"pid\": {},\n    \"port\": {},\n    \"start_time\": {},\n    \"version\": {}\n}}\n",
      ascii_json(cache_key(instance.arguments, here)), ascii_json(instance.logdir),
      ascii_json(instance.path_prefix), getpid(), instance.port, std::time(nullptr),
      ascii_json(SONDE_VERSION));
  const std::string path = fmt::format("{}/pid-{}.info", folder, getpid());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                             std::fclose);
  if (!file) return;
  path_ = path;
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return;
}

InfoFile::~InfoFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace sonde::cli
