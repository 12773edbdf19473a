#include "http/target.h"

#include "base/strings.h"

namespace sonde::http {

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view raw) {
  std::vector<std::pair<std::string, std::string>> query;
  while (!raw.empty()) {
    const std::string_view pair = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(raw.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    query.emplace_back(percent_decoded(key, Plus::kSpace), percent_decoded(value, Plus::kSpace));
  }
  return query;
}

Result<Target> parse_target(std::string_view target, std::string_view prefix) {
  // A proxy's form: http://host/path.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    const size_t slash = target.find_first_of("/?");
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (!target.starts_with('/')) return fail(Code::kInvalid, "the address must begin with '/'");
  target = target.substr(0, target.find('#'));

  Target parsed;
  const size_t question = target.find('?');
  if (question != std::string_view::npos) {
    parsed.raw_query = target.substr(question + 1);
    parsed.query = parse_query(parsed.raw_query);
  }
  const std::string_view suffix =
      question == std::string_view::npos ? std::string_view() : target.substr(question);
  std::string path = percent_decoded(target.substr(0, question));

  if (!prefix.empty()) {
    if (!path.starts_with(prefix)) return fail(Code::kNotFound, "Not found");
    path.erase(0, prefix.size());
    if (path.empty()) {
      parsed.redirect = std::string(prefix) + "/" + std::string(suffix);
      return parsed;
    }
    if (path[0] != '/') return fail(Code::kNotFound, "Not found");
    parsed.base = prefix;
  }
  constexpr std::string_view kExperiment = "/experiment/";
  if (path.starts_with(kExperiment)) {
    const size_t end = path.find('/', kExperiment.size());
    parsed.experiment = path.substr(kExperiment.size(), end - kExperiment.size());
    parsed.base += std::string(kExperiment) + percent_encoded(parsed.experiment);
    if (end == std::string::npos) {
      parsed.redirect = parsed.base + "/" + std::string(suffix);
      return parsed;
    }
    path.erase(0, end);
  }
  parsed.path = std::move(path);
  return parsed;
}

}  // namespace sonde::http
