// Runs tests/api/*.test: a recipe for a log directory, requests, expected answers. See
// tests/api/README.md. With SONDE_UPDATE=1 in the environment the files are rewritten instead.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "api/routes.h"
#include "base/bytes.h"
#include "base/strings.h"
#include "codec/json_read.h"
#include "image/sniff.h"
#include "log/store/store.h"
#include "tests/support/log_maker.h"

namespace sonde::test {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string head;                  // comment lines above
  std::string method, target;        // as written
  std::vector<std::string> headers;  // as written
  std::vector<std::string> body;
  std::string status;  // "200 application/json"
  std::vector<std::string> expected;
};

struct File {
  std::vector<std::string> top;  // comments and recipe, as written
  std::vector<std::string> recipe, settings;
  std::vector<Case> cases;
};

bool is_request(const std::string& line) {
  return line.starts_with("get ") || line.starts_with("post ") || line.starts_with("patch ") ||
         line.starts_with("delete ");
}

File parse(const fs::path& path) {
  File file;
  std::ifstream in(path);
  std::string line;
  enum class At { kTop, kRequest, kExpected } at = At::kTop;
  while (std::getline(in, line)) {
    if (is_request(line)) {
      Case c;
      const size_t space = line.find(' ');
      c.method = line.substr(0, space);
      c.target = line.substr(space + 1);
      file.cases.push_back(std::move(c));
      at = At::kRequest;
      continue;
    }
    if (at == At::kTop) {
      file.top.push_back(line);
      if (line.starts_with("  ")) file.recipe.push_back(line);
      if (line.starts_with("with ")) file.settings.push_back(line.substr(5));
      continue;
    }
    Case& c = file.cases.back();
    if (at == At::kExpected) {
      c.expected.push_back(line);
    } else if (line == "----") {
      at = At::kExpected;
    } else if (line.size() >= 3 && std::isdigit(static_cast<unsigned char>(line[0]))) {
      c.status = line;
    } else if (line.starts_with("> ")) {
      c.headers.push_back(line.substr(2));
    } else if (!line.empty()) {
      c.body.push_back(line);
    }
  }
  return file;
}

// Revisions, references, times and the sizes that a compressor decides differ between machines.
std::string normal(std::string text) {
  static const std::pair<std::regex, const char*> kRules[] = {
      {std::regex("\"rev\":[0-9]+"), "\"rev\":<rev>"},
      {std::regex("\"ref\":\"[^\"]*\""), "\"ref\":<ref>"},
      {std::regex("\"start\":[0-9.e+]+,\"hosts\""), "\"start\":<t>,\"hosts\""},
      {std::regex("(\"mime\":\"image/[a-z]*\",\"bytes\":)[0-9]+"), "$1<n>"},
      {std::regex("\"(ms|used|budget)\":[0-9]+"), "\"$1\":<n>"}};
  for (const auto& [pattern, with] : kRules) text = std::regex_replace(text, pattern, with);
  return text;
}

template <class T>
void append_values(std::string& out, Bytes bytes, size_t count) {
  out += '[';
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    JsonWriter json(out);
    json.number(load<T>(bytes, i * sizeof(T)));
  }
  out += "]";
}

void append_column(std::string& out, const std::string& type, Bytes bytes, size_t n) {
  if (type == "f64") return append_values<double>(out, bytes, n);
  if (type == "f32") return append_values<float>(out, bytes, n);
  if (type == "i64") return append_values<int64_t>(out, bytes, n);
  if (type == "u32") return append_values<uint32_t>(out, bytes, n);
  out += '[';
  for (size_t i = 0; i < n; ++i) {
    const unsigned value = type == "u8" ? load<uint8_t>(bytes, i) : load<uint16_t>(bytes, 2 * i);
    out += fmt::format("{}{}", i ? "," : "", value);
  }
  out += ']';
}

// The binary form as text: the head without its offsets, then one line a column.
std::string columns_text(const std::string& body) {
  const Bytes bytes = as_bytes(body);
  if (bytes.size() < 8 || !body.starts_with("SND1")) return "not a column file";
  const auto size = load<uint32_t>(bytes, 4);
  if (size % 8 != 0 || 8 + uint64_t{size} > bytes.size()) return "a head of a wrong size";
  auto head = read_json(std::string_view(body).substr(8, size));
  if (!head) return "a head that is not JSON";
  std::string columns;
  size_t end = 0;
  for (const auto& [name, column] : head->find("cols")->members) {
    const std::string type = column.find("t")->text;
    const auto offset = static_cast<size_t>(*column.find("o")->integer());
    const auto n = static_cast<size_t>(*column.find("n")->integer());
    const size_t width = type == "u8" ? 1 : type == "u16" ? 2 : type.ends_with("64") ? 8 : 4;
    if (offset % 8 != 0 || 8 + size + offset + n * width > bytes.size()) return "a column outside";
    columns += fmt::format("\n{} {} ", name, type);
    append_column(columns, type, bytes.subspan(8 + size + offset), n);
    end = std::max(end, offset + (n * width + 7) / 8 * 8);
  }
  if (8 + size + end != bytes.size()) columns += "\nbytes after the last column";
  std::erase_if(head->members, [](const auto& member) { return member.first == "cols"; });
  return to_text(*head) + columns;
}

std::string body_of(const api::Answer& answer) {
  if (const auto* stream = std::get_if<std::shared_ptr<api::Stream>>(&answer.body)) {
    std::string all;
    while (auto piece = (*stream)->next()) all += *piece;
    return all;
  }
  std::string body = api::whole_text(answer.body);
  if (answer.content_type == "application/vnd.sonde.columns") return columns_text(body);
  if (const auto header = image::sniff(as_bytes(body)))
    return fmt::format("{} {}x{}", header->mime, header->width, header->height);
  if (answer.content_type.starts_with("audio/")) return fmt::format("{} bytes", body.size());
  return body;
}

// Long JSON is easier to review in lines; comparing ignores them.
std::vector<std::string> broken_up(const std::string& text) {
  std::string spread;
  for (size_t i = 0; i < text.size(); ++i) {
    spread += text[i];
    const bool between = text[i] == ',' && i > 0 && (text[i - 1] == '}' || text[i - 1] == ']') &&
                         i + 1 < text.size() && (text[i + 1] == '{' || text[i + 1] == '"');
    if (between) spread += "\n ";
  }
  std::vector<std::string> lines;
  for (const std::string_view line : split(spread, '\n')) lines.emplace_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.starts_with(" ") || text.empty()) {
      text += trimmed(line);
    } else {
      text += "\n" + line;
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

struct Server {
  explicit Server(const File& file) : pool("test", 2) {
    ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
    for (const std::string& line : file.recipe) {
      const std::string problem = make(logs.path(), line);
      REQUIRE_MESSAGE(problem.empty(), line << ": " << problem);
    }
    store::Options options;
    options.roots = {{"", logs.path().string()}};
    options.follow = false;
    auto opened = store::Store::open(options);
    REQUIRE(opened);
    store = std::move(*opened);
    store->wait_loaded();
    settings.logdir = "logs";
    static int boots = 0;
    settings.boot = fmt::format("diff{}", ++boots);
    for (const std::string& line : file.settings) settings.read_only_sidecar |= line == "read_only";
  }

  api::Answer ask(const Case& c) {
    api::Request request;
    request.method = c.method;
    std::transform(request.method.begin(), request.method.end(), request.method.begin(), ::toupper);
    std::string target = c.target;
    // <ref> stands for the first reference of the last media answer.
    if (const size_t at = target.find("<ref>"); at != target.npos) target.replace(at, 5, ref);
    const size_t mark = target.find('?');
    request.path = percent_decoded(target.substr(0, mark));
    if (mark != target.npos) {
      request.raw_query = target.substr(mark + 1);
      for (const std::string_view pair : split(request.raw_query, '&')) {
        const size_t equals = pair.find('=');
        request.query.emplace_back(
            percent_decoded(pair.substr(0, equals), Plus::kSpace),
            equals == pair.npos ? "" : percent_decoded(pair.substr(equals + 1), Plus::kSpace));
      }
    }
    for (const std::string& header : c.headers) {
      const size_t colon = header.find(": ");
      std::string value = header.substr(colon + 2);
      if (value == "<etag>") value = etag;
      request.headers.emplace_back(header.substr(0, colon), value);
    }
    for (const std::string& line : c.body) request.body += line;
    if (const size_t at = request.body.find("<etag>"); at != request.body.npos) {
      std::string quoted;
      append_json_string(quoted, etag);
      request.body.replace(at - 1, 8, quoted);
    }
    if (!services) services = std::make_unique<api::Services>(*store, settings);
    const api::Context context{*store, settings, pool, *services};
    api::Answer answer = api::handle(context, request);
    if (!answer.etag.empty()) etag = answer.etag;
    const std::string text = api::is_open_ended(answer.body) ? "" : api::whole_text(answer.body);
    if (const size_t at = text.find("\"ref\":\""); at != std::string::npos)
      ref = text.substr(at + 7, text.find('"', at + 7) - at - 7);
    return answer;
  }

  // Names of this run of the tests that must not be in an expected answer.
  std::string without_places(std::string text) const {
    for (const auto& [from, to] : {std::pair{logs.path().string(), std::string("<logs>")},
                                   {state.path().string(), "<state>"},
                                   {settings.boot, "<boot>"}}) {
      for (size_t at; (at = text.find(from)) != text.npos;) text.replace(at, from.size(), to);
    }
    return text;
  }

  Folder logs, state;
  std::unique_ptr<store::Store> store;
  api::Settings settings;
  ThreadPool pool;
  std::unique_ptr<api::Services> services;  // made with the first request
  std::string etag, ref;
};

void rewrite(const fs::path& path, const File& file) {
  std::ofstream out(path);
  for (const std::string& line : file.top) out << line << "\n";
  for (const Case& c : file.cases) {
    out << c.method << " " << c.target << "\n";
    for (const std::string& header : c.headers) out << "> " << header << "\n";
    for (const std::string& line : c.body) out << line << "\n";
    out << c.status << "\n----\n";
    for (const std::string& line : c.expected) out << line << "\n";
    if (&c != &file.cases.back()) out << "\n";
  }
}

void run(const fs::path& path, std::vector<std::string>* asked) {
  File file = parse(path);
  Server server(file);
  const bool update = std::getenv("SONDE_UPDATE") != nullptr;
  for (Case& c : file.cases) {
    if (asked) asked->push_back(c.method + " " + c.target);
    const api::Answer answer = server.ask(c);
    const std::string status = fmt::format("{} {}", answer.status, answer.content_type);
    const std::string body = server.without_places(normal(body_of(answer)));
    if (update) {
      c.status = status;
      c.expected = broken_up(body);
      continue;
    }
    INFO(path.filename().string() << ": " << c.method << " " << c.target);
    CHECK(status == c.status);
    CHECK(joined(broken_up(body)) == joined(c.expected));
  }
  if (update) rewrite(path, file);
}

// The names of all members, lists by their first element: {"runs":[{"id":…}]} gives runs,
// runs[].id.
void names_in(const JsonValue& value, const std::string& prefix, std::set<std::string>& names) {
  for (const auto& [name, member] : value.members) {
    names.insert(prefix + name);
    names_in(member, prefix + name + ".", names);
  }
  if (!value.items.empty()) names_in(value.items[0], prefix + "[].", names);
}

// The head of a column file, or the whole of a JSON file.
JsonValue document_of(const std::string& content) {
  if (!content.starts_with("SND1")) return *read_json(content);
  return *read_json(std::string_view(content).substr(8, load<uint32_t>(as_bytes(content), 4)));
}

}  // namespace

TEST_CASE("api: the page's fixtures have the members that real answers have") {
  File file;
  file.recipe = {"run a: scalar train/loss 0 1, 1 nan, 2 3", "run a: scalar val/acc 0 1, 1 2",
                 "run b: scalar val/acc 0 2, 1 3",           "run a: image inputs 0 4 2 2",
                 "run a: audio clip 0 8000 10 \"\"",         "run a: text notes 0 \"x\", 1 \"y\"",
                 "run a: histogram weights 0 0 1 2",         "run a: damage"};
  Server server(file);
  const auto check = [&](const char* fixture, const char* method, const char* target,
                         const char* body) {
    Case c;
    c.method = method;
    c.target = target;
    if (*body) c.body.push_back(body);
    const api::Answer answer = server.ask(c);
    REQUIRE(answer.status == 200);
    std::ifstream in(fs::path(SONDE_SOURCE_DIR) / "tests/fixtures/api" / fixture, std::ios::binary);
    std::stringstream content;
    content << in.rdbuf();
    std::set<std::string> real, recorded;
    names_in(document_of(api::whole_text(answer.body)), "", real);
    names_in(document_of(content.str()), "", recorded);
    for (const std::string& name : recorded) {
      if (name.starts_with("skipped.")) continue;  // nothing is skipped in this directory
      INFO(fixture << " has '" << name << "', the program's answer has not");
      CHECK(real.contains(name));
    }
  };
  check("info.json", "get", "/api/v1/info", "");
  check("runs.json", "get", "/api/v1/runs", "");
  check("tags.json", "get", "/api/v1/tags", "");
  check("table.json", "post", "/api/v1/table", R"({"columns":["name","metric:val/acc:last"]})");
  check("columns.bin", "post", "/api/v1/columns",
        R"({"series":[{"tag":"train/loss"}],"agg":["min","max","last","count"]})");
  check(
      "columns_smooth.bin", "post", "/api/v1/columns",
      R"({"series":[{"tag":"train/loss"}],"agg":["min","max","last","count"],"smooth":{"kind":"ema","p":0.6}})");
  check(
      "columns_group.bin", "post", "/api/v1/columns",
      R"({"series":[{"tag":"val/acc"}],"group":{"sets":[{"key":"x","runs":"all"}],"band":"minmax"}})");
  check("nearest.json", "post", "/api/v1/nearest",
        R"({"series":[{"tag":"train/loss"}],"at":1,"smooth":{"kind":"ema","p":0.6}})");
  check("media.json", "get", "/api/v1/media?run=a&tag=inputs", "");
  check("media_audio.json", "get", "/api/v1/media?run=a&tag=clip", "");
  check("peaks.bin", "get", "/api/v1/peaks/<ref>?px=4", "");
  check("text.json", "get", "/api/v1/text?run=a&tag=notes", "");
  check("histograms.bin", "post", "/api/v1/histograms", R"({"run":"a","tag":"weights"})");
  check("diagnosis.json", "get", "/api/v1/diagnosis", "");
}

TEST_CASE("api: every case of tests/api") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(SONDE_SOURCE_DIR) / "tests/api")) {
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> asked;
  for (const fs::path& path : files) run(path, &asked);

  SUBCASE("every route of /api/v1 is asked at least once and has a paragraph in docs/api.md") {
    std::ifstream in(fs::path(SONDE_SOURCE_DIR) / "docs/api.md");
    std::stringstream docs;
    docs << in.rdbuf();
    for (const api::Route& route : api::all_routes()) {
      if (!route.path.starts_with("/api/v1/")) continue;
      std::string path(route.path);
      if (path.ends_with("*")) path.pop_back();
      std::string method(route.method);
      const std::string paragraph = method + " " + path.substr(8);
      CHECK_MESSAGE(docs.str().find(paragraph) != std::string::npos, "docs/api.md: ", paragraph);
      if (path == "/api/v1/events") continue;              // a stream: src/api/v1/hub_test.cc
      if (path.starts_with("/api/v1/profile/")) continue;  // recipes write no captures
      std::transform(method.begin(), method.end(), method.begin(), ::tolower);
      const bool is_asked = std::any_of(asked.begin(), asked.end(), [&](const std::string& line) {
        return line.starts_with(method + " " + path);
      });
      CHECK_MESSAGE(is_asked, "no case in tests/api asks ", route.method, " ", path);
    }
  }
}

}  // namespace sonde::test
