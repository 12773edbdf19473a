#include "io/remote/xml.h"

#include <algorithm>
#include <utility>

namespace sonde::io {

std::optional<std::string_view> xml_element(std::string_view xml, std::string_view name,
                                            size_t& from) {
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  const size_t begin = xml.find(open, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t end = xml.find(close, begin);
  if (end == std::string_view::npos) return std::nullopt;
  from = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

std::string_view xml_element(std::string_view xml, std::string_view name) {
  size_t from = 0;
  return xml_element(xml, name, from).value_or("");
}

std::string xml_unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'},    {"&gt;", '>'},  {"&quot;", '"'},
      {"&#34;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto* found = std::ranges::find_if(
        kEntities, [&](const auto& entity) { return text.substr(at).starts_with(entity.first); });
    if (found != std::end(kEntities)) {
      out.push_back(found->second);
      at += found->first.size();
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

}  // namespace sonde::io
