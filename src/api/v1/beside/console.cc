// GET console: what a run's program printed (console.log beside its events), a page of it, its tail
// or the lines that hold a text.
#include <fmt/format.h>

#include <algorithm>

#include "api/services/services.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "log/query/lines/line_file.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kFile = "/console.log";
constexpr size_t kMostLines = 5000, kMostTextBytes = 64 << 10;

// `<unix seconds>\t<o|e><rank><flags>\t<text>`; a line of another form is text without a time.
struct ConsoleLine {
  std::string_view time, stream, rank, flags, text;
};

ConsoleLine parsed(std::string_view line) {
  ConsoleLine out;
  out.text = line;
  const size_t first = line.find('\t');
  const size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
  if (second == line.npos || first == 0 || first > 24) return out;
  const std::string_view time = line.substr(0, first);
  const std::string_view kind = line.substr(first + 1, second - first - 1);
  if (time.find_first_not_of("0123456789.") != time.npos || kind.empty() || kind.size() > 12 ||
      (kind[0] != 'o' && kind[0] != 'e'))
    return out;
  size_t end = 1;
  while (end < kind.size() && kind[end] >= '0' && kind[end] <= '9') ++end;
  out.time = time;
  out.stream = kind.substr(0, 1);
  out.rank = kind.substr(1, end - 1);
  out.flags = kind.substr(end);
  out.text = line.substr(second + 1);
  return out;
}

void write_line(JsonWriter& json, uint64_t number, std::string_view line) {
  const ConsoleLine one = parsed(line);
  json.object([&] {
    json.key("line").number(number);
    if (!one.time.empty()) {
      json.key("time").number(std::strtod(std::string(one.time).c_str(), nullptr));
      json.key("stream").string(one.stream == "e" ? "stderr" : "stdout");
      json.key("rank").number(
          static_cast<int64_t>(std::strtol(std::string(one.rank).c_str(), nullptr, 10)));
    }
    if (one.flags.find('r') != one.flags.npos) json.key("replaced").boolean(true);
    if (one.flags.find('+') != one.flags.npos) json.key("continues").boolean(true);
    json.key("text").string(one.text.substr(0, kMostTextBytes));
    if (one.text.size() > kMostTextBytes) json.key("cut_bytes").number(one.text.size());
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

uint64_t mark_of(const io::FileStat& stat) {
  return hash_of(fmt::format("{}.{}.{}.{}", stat.device, stat.inode, stat.size, stat.mtime_ns));
}

Answer list_consoles(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("consoles").array([&] {
      for (const auto& run : snapshot->runs) {
        const auto stat = io::stat_of(run->folder + std::string(kFile));
        if (!stat || !stat->regular) continue;
        json.object([&] {
          json.key("run").string(run->name);
          json.key("bytes").number(stat->size);
        });
      }
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

Answer console(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(name, text_param(request, "run"));
  const store::RunSnapshot* run = snapshot->find(name);
  if (!run) return error({Code::kNotFound, fmt::format("there is no run '{}'", name)}, "", kNames);
  const std::string path = run->folder + std::string(kFile);
  const auto found = io::stat_of(path);
  if (!found) return error({Code::kNotFound, fmt::format("run '{}' has no console output", name)});
  const io::FileStat& stat = *found;
  const std::string key = "console\n" + path;
  std::optional<Error> failed;
  const auto index = context.services.memo().get<query::LineIndex>(
      key, mark_of(stat), [&](const query::LineIndex* earlier) {
        auto made = query::index_lines(path, earlier, nullptr);
        if (!made) failed = made.error();
        return made ? std::move(*made) : query::LineIndex{};
      });
  if (failed) return error(*failed);
  SONDE_ANSWER(from, integer_param(request, "from", 0));
  SONDE_ANSWER(count, integer_param(request, "count", 500));
  const auto most = static_cast<uint64_t>(std::clamp<int64_t>(count, 0, kMostLines));
  const uint64_t first = from >= 0 ? std::min<uint64_t>(static_cast<uint64_t>(from), index->lines)
                         : static_cast<uint64_t>(-from) > index->lines
                             ? 0
                             : index->lines - static_cast<uint64_t>(-from);
  const std::string q = lower(request.param("q").value_or(""));
  const std::string_view stream = request.param("stream").value_or("");
  std::string body;
  JsonWriter json(body);
  uint64_t next = first, written = 0;
  Result<void> read;
  json.object([&] {
    json.key("run").string(run->name);
    json.key("total").number(index->lines);
    json.key("bytes").number(index->bytes);
    json.key("from").number(first);
    json.key("lines").array([&] {
      read = query::read_lines(path, *index, first, [&](uint64_t number, std::string_view line) {
        if (written >= most || request.is_abandoned()) return false;
        next = number + 1;
        if (!q.empty() && lower(parsed(line).text).find(q) == std::string::npos) return true;
        if (!stream.empty() && parsed(line).stream != (stream == "stderr" ? "e" : "o")) return true;
        write_line(json, number, line);
        ++written;
        return true;
      });
    });
    json.key("next").number(next);
  });
  if (!read) return error(read.error());
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/consoles", list_consoles},
                             {"GET", "/api/v1/console", console}};

}  // namespace

std::span<const Route> console_routes() { return kRoutes; }

}  // namespace sonde::api::v1
