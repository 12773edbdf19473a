// Files of other trackers: wandb's framed records, CSV, JSON lines, trainer_state.json, SQLite. The
// first byte picks the format; the rest is the file.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "log/trackers/databases.h"
#include "log/trackers/readers.h"
#include "log/trackers/rows.h"
#include "log/trackers/run_stream.h"
#include "log/trackers/wandb_name.h"

namespace {

using namespace sonde;
using namespace sonde::trackers;

void read_all(std::unique_ptr<RunReader> reader) {
  const auto stream = std::make_shared<RunStream>(std::move(reader));
  const auto source = stream->open();
  if (!source) return;
  std::vector<std::byte> buffer(1 << 16);
  for (uint64_t at = 0; at < (64 << 20);) {
    const auto got = (*source)->read_at(at, buffer);
    if (!got || *got == 0) return;
    at += *got;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  static const std::string path = "/tmp/sonde_trackers_fuzz." + std::to_string(::getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) std::abort();
  std::fwrite(data + 1, 1, size - 1, file);
  std::fclose(file);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      (void)wandb_name(as_bytes(text));
      read_all(read_wandb(path));
      break;
    case 1:
      (void)csv_looks_like(text);
      read_all(read_csv(path));
      break;
    case 2:
      (void)json_lines_look_like(text);
      read_all(read_json_lines(path));
      break;
    case 3:
      read_all(read_trainer_state(path));
      break;
    default:
      if (const auto runs = runs_in(path)) {
        for (const DatabaseRun& run : runs->runs)
          read_all(read_database_run(runs->kind, path, run.key));
      }
  }
  return 0;
}
