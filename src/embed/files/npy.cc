#include "embed/files/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/strings.h"
#include "log/event/tensor.h"

namespace sonde::embed {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;
constexpr uint64_t kMaxText = 1 << 16;

// The text after 'key': in the Python dictionary that heads the file.
std::string_view after_key(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    const size_t colon = dictionary.find(':', at + quoted.size());
    if (colon == std::string_view::npos) return {};
    return trimmed(dictionary.substr(colon + 1));
  }
  return {};
}

// 'U' and 'S' with the number of characters.
bool read_text_type(std::string_view type, NpyHeader& header) {
  if (type.size() < 3 || (type[1] != 'U' && type[1] != 'S')) return false;
  uint64_t size = 0;
  const auto [stop, problem] = std::from_chars(type.data() + 2, type.data() + type.size(), size);
  if (problem != std::errc() || stop != type.data() + type.size() || size == 0 || size > kMaxText)
    return false;
  header.is_big_endian = type[0] == '>';
  header.kind = type[1];
  header.width = type[1] == 'U' ? 4 * size : size;
  return true;
}

Result<void> read_type(std::string_view text, NpyTexts texts, NpyHeader& header) {
  const size_t end = text.size() < 2 ? 0 : text.find(text[0], 1);
  const std::string_view type =
      end == 0 || end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
  if (texts == NpyTexts::kAllow && read_text_type(type, header)) return {};
  const bool known = type.size() == 3 && std::string_view("<>|=").find(type[0]) != type.npos &&
                     std::string_view("biuf").find(type[1]) != type.npos && type[2] >= '1' &&
                     type[2] <= '8';
  if (!known) {
    return fail(Code::kUnsupported,
                fmt::format("the .npy file holds values of type '{}'; numbers of up to 8 bytes are "
                            "read (float16/32/64, integers, booleans)",
                            type.substr(0, 20)));
  }
  header.is_big_endian = type[0] == '>';
  header.kind = type[1];
  header.width = static_cast<size_t>(type[2] - '0');
  const bool fits = header.kind == 'f' ? header.width == 2 || header.width == 4 || header.width == 8
                    : header.kind == 'b'
                        ? header.width == 1
                        : std::string_view("1248").find(type[2]) != std::string_view::npos;
  if (!fits) return fail(Code::kUnsupported, fmt::format("there is no .npy type '{}'", type));
  return {};
}

Result<void> read_shape(std::string_view text, NpyHeader& header) {
  if (!text.starts_with('(')) return fail(Code::kInvalid, "the .npy header has no shape");
  text.remove_prefix(1);
  while (true) {
    text = trimmed(text);
    if (text.starts_with(',')) {
      text.remove_prefix(1);
      continue;
    }
    if (text.starts_with(')')) return {};
    uint64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || header.shape.size() >= 32)
      return fail(Code::kInvalid, "the shape in the .npy header cannot be read");
    header.shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
  }
}

template <class T>
double as_double(const uint8_t* raw) {
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return static_cast<double>(value);
}

void append_utf8(std::string& out, uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out.push_back(static_cast<char>(kLead[more] | code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i)
    out.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<NpyHeader> read_npy_header(std::string_view bytes, NpyTexts texts) {
  if (bytes.size() < 10) return fail(Code::kInvalid, "the .npy file ends inside its header");
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])); };
  const bool is_wide = byte(6) >= 2;
  const size_t begin = is_wide ? 12 : 10;
  if (bytes.size() < begin) return fail(Code::kInvalid, "the .npy file ends inside its header");
  uint64_t size = byte(8) | byte(9) << 8;
  if (is_wide) size |= byte(10) << 16 | byte(11) << 24;
  if (size > kMaxHeader || size > bytes.size() - begin)
    return fail(Code::kInvalid, "the .npy file ends inside its header");
  const std::string_view text = bytes.substr(begin, size);
  NpyHeader header;
  header.end = begin + size;
  header.is_fortran = after_key(text, "fortran_order").starts_with("True");
  SONDE_TRY(typed, read_type(after_key(text, "descr"), texts, header).map([] { return true; }));
  SONDE_TRY(shaped, read_shape(after_key(text, "shape"), header).map([] { return true; }));
  (void)typed, (void)shaped;
  return header;
}

Result<uint64_t> npy_count(const NpyHeader& header, std::string_view bytes) {
  const uint64_t present = (bytes.size() - header.end) / header.width;
  uint64_t count = 1;
  for (const uint64_t size : header.shape) {
    // A size beyond the file keeps the product from wrapping.
    if (size != 0 && count > present / size)
      return fail(Code::kInvalid, "the .npy file is shorter than its header says");
    count *= size;
  }
  return count;
}

double npy_number(const NpyHeader& header, const char* at) {
  uint8_t raw[8];
  std::memcpy(raw, at, header.width);
  if (header.is_big_endian) std::reverse(raw, raw + header.width);
  if (header.kind == 'f') {
    if (header.width == 2) {
      uint16_t bits;
      std::memcpy(&bits, raw, 2);
      return event::half_to_float(bits);
    }
    return header.width == 4 ? as_double<float>(raw) : as_double<double>(raw);
  }
  const bool is_signed = header.kind == 'i';
  switch (header.width) {
    case 1:
      return is_signed ? as_double<int8_t>(raw) : as_double<uint8_t>(raw);
    case 2:
      return is_signed ? as_double<int16_t>(raw) : as_double<uint16_t>(raw);
    case 4:
      return is_signed ? as_double<int32_t>(raw) : as_double<uint32_t>(raw);
    default:
      return is_signed ? as_double<int64_t>(raw) : as_double<uint64_t>(raw);
  }
}

std::string npy_text(const NpyHeader& header, const char* at) {
  if (header.kind == 'S') return to_utf8(std::string_view(at, strnlen(at, header.width)));
  std::string out;
  for (size_t i = 0; i + 4 <= header.width; i += 4) {
    uint8_t raw[4];
    std::memcpy(raw, at + i, 4);
    if (header.is_big_endian) std::reverse(raw, raw + 4);
    uint32_t code;
    std::memcpy(&code, raw, 4);
    if (code == 0) break;
    append_utf8(out, code);
  }
  return out;
}

}  // namespace sonde::embed
