#include "log/query/lines/line_file.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace sonde::query {
namespace {

constexpr size_t kWindow = 1 << 20;

// Calls fn(offset, line) for every whole line from `offset` to `end`; returns where it stopped.
Result<uint64_t> walk_lines(io::File& file, uint64_t offset, uint64_t end,
                            const std::function<bool(uint64_t, std::string_view)>& fn) {
  std::string window(kWindow, '\0'), line;
  uint64_t line_start = offset;
  while (offset < end) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kWindow, end - offset));
    SONDE_TRY(got, file.read_at(offset, std::as_writable_bytes(std::span(window.data(), wanted))));
    if (got == 0) break;
    std::string_view rest(window.data(), got);
    while (!rest.empty()) {
      const size_t newline = rest.find('\n');
      if (newline == std::string_view::npos) {
        if (line.size() < kMaxLineBytes) line.append(rest.substr(0, kMaxLineBytes - line.size()));
        break;
      }
      std::string_view whole = rest.substr(0, newline);
      if (!line.empty()) {
        if (line.size() < kMaxLineBytes) line.append(whole.substr(0, kMaxLineBytes - line.size()));
        whole = line;
      }
      const uint64_t next =
          offset + static_cast<uint64_t>(rest.data() - window.data()) + newline + 1;
      if (!fn(line_start, whole)) return line_start;
      line.clear();
      line_start = next;
      rest.remove_prefix(newline + 1);
    }
    offset += got;
  }
  return line_start;
}

}  // namespace

Result<LineIndex> index_lines(const std::string& path, const LineIndex* earlier,
                              const std::function<int64_t(std::string_view)>& step_of) {
  SONDE_TRY(file, io::File::open(path));
  LineIndex index;
  if (earlier && earlier->is_beginning_of(file.stat()) &&
      (!step_of || earlier->steps.size() == earlier->lines))
    index = *earlier;
  index.file = file.stat();
  SONDE_TRY(stopped, walk_lines(file, index.bytes, index.file.size,
                                [&](uint64_t offset, std::string_view line) {
                                  if (index.lines % LineIndex::kEvery == 0)
                                    index.starts.push_back(offset);
                                  ++index.lines;
                                  if (step_of) index.steps.push_back(step_of(line));
                                  return true;
                                }));
  index.bytes = stopped;
  return index;
}

Result<void> read_lines(const std::string& path, const LineIndex& index, uint64_t first,
                        const std::function<bool(uint64_t, std::string_view)>& fn) {
  if (first >= index.lines) return {};
  SONDE_TRY(file, io::File::open(path));
  const uint64_t begin = first / LineIndex::kEvery;
  uint64_t number = begin * LineIndex::kEvery;
  auto walked =
      walk_lines(file, index.starts[begin], index.bytes, [&](uint64_t, std::string_view line) {
        const uint64_t at = number++;
        return at < first || fn(at, line);
      });
  if (!walked) return fail(walked.error());
  return {};
}

}  // namespace sonde::query
