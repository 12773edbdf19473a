#include "capture/analysis/op_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace sonde::capture {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_ignoring_case(std::string_view text, std::string_view start) {
  if (text.size() < start.size()) return false;
  return std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

// [A-Za-z0-9.][A-Za-z0-9_.\/>-]*
bool is_tf_name(std::string_view text) {
  if (text.empty() || !(is_letter(text[0]) || is_digit(text[0]) || text[0] == '.')) return false;
  return std::all_of(text.begin() + 1, text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '\\' || c == '/' ||
           c == '>' || c == '-';
  });
}

// [A-Z_][a-zA-Z0-9_]*
bool is_tf_type(std::string_view text) {
  if (text.empty() || !((text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_')) return false;
  return std::all_of(text.begin() + 1, text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// [a-z_][a-z0-9_]*(\[.*\])?
bool is_jax_type(std::string_view text) {
  if (text.empty() || !((text[0] >= 'a' && text[0] <= 'z') || text[0] == '_')) return false;
  size_t i = 1;
  while (i < text.size() &&
         ((text[i] >= 'a' && text[i] <= 'z') || is_digit(text[i]) || text[i] == '_'))
    ++i;
  return i == text.size() || (text[i] == '[' && text.back() == ']');
}

struct CopyName {
  std::string_view start;
  OpCategory category;
  std::string_view type;
};
// Old CUPTI names first, today's after them: both occur in files.
constexpr CopyName kCopies[] = {
    {"MEMCPYHToD", OpCategory::kCopyHostToDevice, "MemcpyHToD"},
    {"MEMCPYDToH", OpCategory::kCopyDeviceToHost, "MemcpyDToH"},
    {"MEMCPYDToD", OpCategory::kCopyDeviceToDevice, "MemcpyDToD"},
    {"MEMCPYHToH", OpCategory::kCopyHostToHost, "MemcpyHToH"},
    {"MemcpyH2D", OpCategory::kCopyHostToDevice, "MemcpyHToD"},
    {"MemcpyD2H", OpCategory::kCopyDeviceToHost, "MemcpyDToH"},
    {"MemcpyD2D", OpCategory::kCopyDeviceToDevice, "MemcpyDToD"},
    {"MemcpyP2P", OpCategory::kCopyDeviceToDevice, "MemcpyDToD"},
    {"MemcpyH2H", OpCategory::kCopyHostToHost, "MemcpyHToH"},
    {"Memcpy HtoD", OpCategory::kCopyHostToDevice, "MemcpyHToD"},
    {"Memcpy DtoH", OpCategory::kCopyDeviceToHost, "MemcpyDToH"},
    {"Memcpy DtoD", OpCategory::kCopyDeviceToDevice, "MemcpyDToD"},
    {"CopyHostToDevice", OpCategory::kCopyHostToDevice, "MemcpyHToD"},
    {"CopyDeviceToHost", OpCategory::kCopyDeviceToHost, "MemcpyDToH"},
    {"CopyDeviceToDevice", OpCategory::kCopyDeviceToDevice, "MemcpyDToD"},
};

}  // namespace

std::string_view without_number(std::string_view name) {
  const size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore + 1 == name.size()) return name;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(underscore) + 1, name.end(),
                     is_digit)
             ? name.substr(0, underscore)
             : name;
}

OpName parse_op_name(std::string_view full) {
  const size_t colon = full.find(':');
  if (colon == std::string_view::npos) {
    for (const CopyName& copy : kCopies) {
      if (starts_ignoring_case(full, copy.start)) return {copy.category, full, copy.type};
    }
    return {OpCategory::kUnknown, full, {}};
  }
  const std::string_view a = full.substr(0, colon), b = full.substr(colon + 1);
  if (a == "Iterator") return {OpCategory::kTfData, full, "Dataset"};
  if (is_tf_name(a) && is_tf_type(b)) return {OpCategory::kTensorFlow, a, b};
  std::string_view type = b;
  if (b.empty()) {
    const size_t slash = a.rfind('/');
    type = without_number(slash == std::string_view::npos ? a : a.substr(slash + 1));
  }
  if (is_jax_type(type)) return {OpCategory::kJax, a, type.substr(0, type.find('['))};
  if (b.empty()) return {OpCategory::kTensorFlow, a, type};
  return {OpCategory::kUnknown, full, {}};
}

}  // namespace sonde::capture
