#include "http/page.h"

#include <exception>

#include "base/log.h"
#include "codec/html.h"

namespace sonde::http {
namespace {

constexpr std::string_view kMark = "data-answer=\"";
constexpr std::string_view kEmpty = "\"></script>";
constexpr size_t kLongest = 1 << 20;  // more is better asked for beside the page's code

// In JSON a '<' stands only in strings; written like this it can end no element.
void append_harmless(std::string& out, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

void append_answer(std::string& out, const api::Answer& answer) {
  size_t size = 0;
  api::for_each_part(answer.body, [&](std::string_view part) { size += part.size(); });
  if (answer.status != 200 || answer.content_type != "application/json" ||
      api::is_open_ended(answer.body) || size > kLongest) {
    out += kEmpty;
    return;
  }
  out += '"';
  if (!answer.etag.empty()) out += " data-etag=\"" + html_escaped(answer.etag) + '"';
  out += '>';
  api::for_each_part(answer.body, [&](std::string_view part) { append_harmless(out, part); });
  out += "</script>";
}

// Our code does not throw; libraries and memory do. One answer less is no reason to end.
api::Answer guarded(const std::function<api::Answer(std::string_view path)>& ask,
                    std::string_view path) {
  try {
    return ask(path);
  } catch (const std::exception& error) {
    log::error("answering {} for the page: {}", path, error.what());
    api::Answer none;
    none.status = 500;
    return none;
  }
}

}  // namespace

std::string filled_page(std::string_view html,
                        const std::function<api::Answer(std::string_view path)>& ask) {
  std::string out;
  out.reserve(html.size() + 4096);
  for (;;) {
    const size_t mark = html.find(kMark);
    if (mark == std::string_view::npos) break;
    const size_t path = mark + kMark.size();
    const size_t end = html.find('"', path);
    if (end == std::string_view::npos || !html.substr(end).starts_with(kEmpty)) break;
    out += html.substr(0, end);
    append_answer(out, guarded(ask, html.substr(path, end - path)));
    html.remove_prefix(end + kEmpty.size());
  }
  out += html;
  return out;
}

}  // namespace sonde::http
