#include "text/entities.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <optional>

namespace sonde::text {
namespace {

struct Entity {
  std::string_view name;
  uint32_t character;
};

// The names of HTML 4, and those of HTML 5 for ASCII characters, which can hide a link's scheme.
constexpr Entity kEntities[] = {
    {"AElig", 198},   {"Aacute", 193},   {"Acirc", 194},   {"Agrave", 192},  {"Alpha", 913},
    {"Aring", 197},   {"Atilde", 195},   {"Auml", 196},    {"Beta", 914},    {"Ccedil", 199},
    {"Chi", 935},     {"Dagger", 8225},  {"Delta", 916},   {"ETH", 208},     {"Eacute", 201},
    {"Ecirc", 202},   {"Egrave", 200},   {"Epsilon", 917}, {"Eta", 919},     {"Euml", 203},
    {"Gamma", 915},   {"Iacute", 205},   {"Icirc", 206},   {"Igrave", 204},  {"Iota", 921},
    {"Iuml", 207},    {"Kappa", 922},    {"Lambda", 923},  {"Mu", 924},      {"NewLine", 10},
    {"Ntilde", 209},  {"Nu", 925},       {"OElig", 338},   {"Oacute", 211},  {"Ocirc", 212},
    {"Ograve", 210},  {"Omega", 937},    {"Omicron", 927}, {"Oslash", 216},  {"Otilde", 213},
    {"Ouml", 214},    {"Phi", 934},      {"Pi", 928},      {"Prime", 8243},  {"Psi", 936},
    {"Rho", 929},     {"Scaron", 352},   {"Sigma", 931},   {"THORN", 222},   {"Tab", 9},
    {"Tau", 932},     {"Theta", 920},    {"Uacute", 218},  {"Ucirc", 219},   {"Ugrave", 217},
    {"Upsilon", 933}, {"Uuml", 220},     {"Xi", 926},      {"Yacute", 221},  {"Yuml", 376},
    {"Zeta", 918},    {"aacute", 225},   {"acirc", 226},   {"acute", 180},   {"aelig", 230},
    {"agrave", 224},  {"alefsym", 8501}, {"alpha", 945},   {"amp", 38},      {"and", 8743},
    {"ang", 8736},    {"apos", 39},      {"aring", 229},   {"ast", 42},      {"asymp", 8776},
    {"atilde", 227},  {"auml", 228},     {"bdquo", 8222},  {"beta", 946},    {"brvbar", 166},
    {"bsol", 92},     {"bull", 8226},    {"cap", 8745},    {"ccedil", 231},  {"cedil", 184},
    {"cent", 162},    {"check", 10003},  {"chi", 967},     {"circ", 710},    {"clubs", 9827},
    {"colon", 58},    {"comma", 44},     {"commat", 64},   {"cong", 8773},   {"copy", 169},
    {"crarr", 8629},  {"cross", 10007},  {"cup", 8746},    {"curren", 164},  {"dArr", 8659},
    {"dagger", 8224}, {"darr", 8595},    {"deg", 176},     {"delta", 948},   {"diams", 9830},
    {"divide", 247},  {"dollar", 36},    {"eacute", 233},  {"ecirc", 234},   {"egrave", 232},
    {"empty", 8709},  {"emsp", 8195},    {"ensp", 8194},   {"epsilon", 949}, {"equals", 61},
    {"equiv", 8801},  {"eta", 951},      {"eth", 240},     {"euml", 235},    {"euro", 8364},
    {"excl", 33},     {"exist", 8707},   {"fnof", 402},    {"forall", 8704}, {"frac12", 189},
    {"frac14", 188},  {"frac34", 190},   {"frasl", 8260},  {"gamma", 947},   {"ge", 8805},
    {"grave", 96},    {"gt", 62},        {"hArr", 8660},   {"harr", 8596},   {"hearts", 9829},
    {"hellip", 8230}, {"iacute", 237},   {"icirc", 238},   {"iexcl", 161},   {"igrave", 236},
    {"image", 8465},  {"infin", 8734},   {"int", 8747},    {"iota", 953},    {"iquest", 191},
    {"isin", 8712},   {"iuml", 239},     {"kappa", 954},   {"lArr", 8656},   {"lambda", 955},
    {"lang", 9001},   {"laquo", 171},    {"larr", 8592},   {"lbrack", 91},   {"lceil", 8968},
    {"lcub", 123},    {"ldquo", 8220},   {"le", 8804},     {"lfloor", 8970}, {"lowast", 8727},
    {"lowbar", 95},   {"loz", 9674},     {"lpar", 40},     {"lrm", 8206},    {"lsaquo", 8249},
    {"lsquo", 8216},  {"lt", 60},        {"macr", 175},    {"mdash", 8212},  {"micro", 181},
    {"middot", 183},  {"minus", 8722},   {"mu", 956},      {"nabla", 8711},  {"nbsp", 160},
    {"ndash", 8211},  {"ne", 8800},      {"ni", 8715},     {"not", 172},     {"notin", 8713},
    {"nsub", 8836},   {"ntilde", 241},   {"nu", 957},      {"num", 35},      {"oacute", 243},
    {"ocirc", 244},   {"oelig", 339},    {"ograve", 242},  {"oline", 8254},  {"omega", 969},
    {"omicron", 959}, {"oplus", 8853},   {"or", 8744},     {"ordf", 170},    {"ordm", 186},
    {"oslash", 248},  {"otilde", 245},   {"otimes", 8855}, {"ouml", 246},    {"para", 182},
    {"part", 8706},   {"percnt", 37},    {"period", 46},   {"permil", 8240}, {"perp", 8869},
    {"phi", 966},     {"pi", 960},       {"piv", 982},     {"plus", 43},     {"plusmn", 177},
    {"pound", 163},   {"prime", 8242},   {"prod", 8719},   {"prop", 8733},   {"psi", 968},
    {"quest", 63},    {"quot", 34},      {"rArr", 8658},   {"radic", 8730},  {"rang", 9002},
    {"raquo", 187},   {"rarr", 8594},    {"rbrack", 93},   {"rceil", 8969},  {"rcub", 125},
    {"rdquo", 8221},  {"real", 8476},    {"reg", 174},     {"rfloor", 8971}, {"rho", 961},
    {"rlm", 8207},    {"rpar", 41},      {"rsaquo", 8250}, {"rsquo", 8217},  {"sbquo", 8218},
    {"scaron", 353},  {"sdot", 8901},    {"sect", 167},    {"semi", 59},     {"shy", 173},
    {"sigma", 963},   {"sigmaf", 962},   {"sim", 8764},    {"sol", 47},      {"spades", 9824},
    {"star", 9734},   {"starf", 9733},   {"sub", 8834},    {"sube", 8838},   {"sum", 8721},
    {"sup", 8835},    {"sup1", 185},     {"sup2", 178},    {"sup3", 179},    {"supe", 8839},
    {"szlig", 223},   {"tau", 964},      {"there4", 8756}, {"theta", 952},   {"thetasym", 977},
    {"thinsp", 8201}, {"thorn", 254},    {"tilde", 732},   {"times", 215},   {"trade", 8482},
    {"uArr", 8657},   {"uacute", 250},   {"uarr", 8593},   {"ucirc", 251},   {"ugrave", 249},
    {"uml", 168},     {"upsih", 978},    {"upsilon", 965}, {"uuml", 252},    {"verbar", 124},
    {"weierp", 8472}, {"xi", 958},       {"yacute", 253},  {"yen", 165},     {"yuml", 255},
    {"zeta", 950},    {"zwj", 8205},     {"zwnj", 8204}};

struct Reference {
  size_t length = 0;
  uint32_t character = 0;
};

std::optional<uint32_t> number_of(std::string_view digits, uint32_t base) {
  if (digits.empty()) return std::nullopt;
  uint32_t value = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    if (static_cast<uint32_t>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<uint32_t>(digit);
    if (value > 0x10ffff) return std::nullopt;
  }
  return value;
}

Reference reference_at(std::string_view text) {
  constexpr size_t kLongest = 34;
  if (text.size() < 3 || text[0] != '&') return {};
  const size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) return {};
  const std::string_view name = text.substr(1, end - 1);
  std::optional<uint32_t> value;
  if (name.starts_with("#x") || name.starts_with("#X")) {
    value = number_of(name.substr(2), 16);
  } else if (name.starts_with('#')) {
    value = number_of(name.substr(1), 10);
  } else {
    const auto* found = std::lower_bound(
        std::begin(kEntities), std::end(kEntities), name,
        [](const Entity& entity, std::string_view wanted) { return entity.name < wanted; });
    if (found != std::end(kEntities) && found->name == name) value = found->character;
  }
  if (!value) return {};
  return {end + 1, *value};
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xc0 | c >> 6));
    out.push_back(static_cast<char>(0x80 | (c & 63)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | c >> 12));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 63)));
    out.push_back(static_cast<char>(0x80 | (c & 63)));
  } else {
    out.push_back(static_cast<char>(0xf0 | c >> 18));
    out.push_back(static_cast<char>(0x80 | (c >> 12 & 63)));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 63)));
    out.push_back(static_cast<char>(0x80 | (c & 63)));
  }
}

}  // namespace

size_t entity_length(std::string_view text) { return reference_at(text).length; }

size_t reference_length(std::string_view text) {
  if (text.empty() || text[0] != '&') return 0;
  size_t i = 1;
  const bool is_number = i < text.size() && text[i] == '#';
  if (is_number) ++i;
  const bool is_hex = is_number && i < text.size() && text[i] == 'x';
  if (is_hex) ++i;
  const size_t start = i;
  const auto belongs = [&](unsigned char c) {
    return is_hex ? std::isxdigit(c) != 0 : is_number ? std::isdigit(c) != 0 : std::isalnum(c) != 0;
  };
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80 &&
         belongs(static_cast<unsigned char>(text[i])))
    ++i;
  return i > start && i < text.size() && text[i] == ';' ? i + 1 : 0;
}

size_t kept_length(std::string_view text) {
  const size_t length = reference_length(text);
  if (length == 0 || text[1] == '#') return length;
  const std::string_view name = text.substr(1, length - 2);
  const auto* found = std::lower_bound(
      std::begin(kEntities), std::end(kEntities), name,
      [](const Entity& entity, std::string_view wanted) { return entity.name < wanted; });
  return found != std::end(kEntities) && found->name.starts_with(name) ? length : 0;
}

std::string decoded_entities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Reference reference = text[i] == '&' ? reference_at(text.substr(i)) : Reference{};
    if (reference.length > 0) {
      append_utf8(out, reference.character);
      i += reference.length;
    } else {
      out.push_back(text[i++]);
    }
  }
  return out;
}

}  // namespace sonde::text
