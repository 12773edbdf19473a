// A whole event file of arbitrary bytes: frames, damage, resynchronisation, skimming, columns.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/thread_pool.h"
#include "log/load/file_loader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  static const std::string path = [] {
    std::string name = "/tmp/sonde-fuzz-XXXXXX";
    if (const int fd = ::mkstemp(name.data()); fd >= 0) ::close(fd);
    std::atexit([] { ::unlink(path.c_str()); });
    return name;
  }();
  static ThreadPool pool("fuzz", 1);
  static const auto memory = std::make_shared<store::Memory>(uint64_t{1} << 30);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return 0;
  // The file arrives in two parts, as a growing one does.
  const size_t half = size / 2;
  std::fwrite(data, 1, half, file);
  std::fflush(file);
  store::FileLoader loader({store::FileId{0}, path, "events.out.tfevents.1"}, memory);
  loader.update({pool, 1}, {});
  std::fwrite(data + half, 1, size - half, file);
  std::fclose(file);
  loader.update({pool, 1}, {});
  const auto grown = loader.committed();
  store::FileLoader whole({store::FileId{0}, path, "events.out.tfevents.1"}, memory);
  whole.update({pool, 1}, {});
  // Read in two goes or in one, good records are the same.
  if (grown->facts.records != whole.committed()->facts.records && grown->damaged == 0 &&
      whole.committed()->damaged == 0)
    std::abort();
  return 0;
}
