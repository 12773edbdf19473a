// `sonde sync SRC DST`: a folder into an object store, a store into a folder, a store into another
// through this machine. What is there already, of the same size and not older, is left alone.
#include <fmt/format.h>
#include <signal.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/logdir.h"
#include "io/file.h"
#include "io/remote/remote.h"
#include "io/remote/upload.h"
#include "io/scan.h"
#include "log/write/outbox.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde sync SRC DST\n"
    "sonde sync --pending\n"
    "\n"
    "Copies every file below SRC to DST: folders of this machine, s3://BUCKET/PREFIX, gs://, "
    "az://;\n"
    "SRC may also be http(s):// or hdfs://. Files that are there with the same size and are not\n"
    "older are left alone; nothing is removed.\n"
    "\n"
    "  --follow       go on with what is written later, until interrupted; of an event file that\n"
    "                 grows only the new part is sent where the store can join (S3, Azure)\n"
    "  --pending      upload what programs that logged to a store could not (docs/scale.md)\n";

int said(const Result<io::Moved>& moved, const std::string& to) {
  if (!moved) return failed(moved.error().text, moved.error().code == Code::kInvalid ? 2 : 1);
  fmt::print("{} file{}, {} copied to {}\n", moved->files, moved->files == 1 ? "" : "s",
             human_bytes(moved->bytes), to);
  return 0;
}

Result<io::Moved> upload(const std::string& from, const std::string& to, bool follows,
                         const sigset_t& signals) {
  io::FolderUpload folder(from, to);
  if (auto good = io::check_upload(to); !good) return fail(good.error());
  if (auto looked = folder.look(); !looked) return fail(looked.error());
  io::Moved moved;
  std::string told;
  constexpr timespec kPause{2, 0};
  for (bool is_last = !follows;;) {
    const auto done = folder.pass(moved);
    if (!done && is_last) return fail(done.error());
    if (!done && told != done.error().text)
      fmt::print(stderr, "sonde: {}; trying again\n", done.error().text);
    told = done ? "" : done.error().text;
    if (is_last) return moved;
    is_last = sigtimedwait(&signals, nullptr, &kPause) > 0;
  }
}

// A store into a store: nothing but the bytes that are under way is kept here.
class ObjectBytes final : public io::UploadBytes {
 public:
  ObjectBytes(io::ObjectStore& store, const io::RemoteObject& object)
      : store_(store), object_(object) {}
  uint64_t size() const override { return object_.size; }
  Result<std::string> read(uint64_t offset, uint64_t length) override {
    SONDE_TRY(bytes, store_.read(object_, offset, length));
    if (bytes.size() != length) return fail(Code::kIo, object_.path + ": cut while it was read");
    return bytes;
  }

 private:
  io::ObjectStore& store_;
  const io::RemoteObject& object_;
};

Result<io::Moved> between_stores(const std::string& from, const std::string& to) {
  if (auto good = io::check_upload(to); !good) return fail(good.error());
  SONDE_TRY(const objects, io::list_remote(from));
  SONDE_TRY(const there, io::list_remote(to));
  io::Moved moved;
  for (const io::RemoteObject& object : objects) {
    const std::string prefix = io::as_folder(from);
    if (!object.path.starts_with(prefix)) continue;
    const std::string target = io::as_folder(to) + object.path.substr(prefix.size());
    const auto same = std::ranges::find(there, target, &io::RemoteObject::path);
    if (same != there.end() && same->size == object.size && same->modified_s >= object.modified_s)
      continue;
    ObjectBytes bytes(*io::store_of(from), object);
    if (auto done = io::store_of(to)->write(target, bytes, nullptr); !done)
      return fail(done.error());
    ++moved.files;
    moved.bytes += object.size;
  }
  return moved;
}

int upload_pending() {
  const auto pending = writer::pending_uploads();
  if (pending.empty()) {
    fmt::print("nothing is waiting in {}\n", writer::outbox_folder());
    return 0;
  }
  int code = 0;
  for (const writer::Pending& one : pending) {
    io::FolderUpload folder(one.folder, one.address);
    io::Moved moved;
    const auto done = folder.pass(moved);
    folder.remove_sent();
    if (done) {
      std::error_code ignored;
      std::filesystem::remove_all(one.folder, ignored);  // the note of where it belongs
      said(moved, one.address);
    } else {
      code = failed(done.error().text);
    }
  }
  return code;
}

}  // namespace

int sync_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}", kHelp);
    return 0;
  }
  std::vector<std::string> places;
  bool follows = false, only_pending = false;
  Flags flags("sonde sync");
  flags.rest("place", places);
  flags.on("follow", follows);
  flags.on("pending", only_pending);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  if (only_pending && places.empty()) return upload_pending();
  if (places.size() != 2 || only_pending) return failed("sync: give a source and a target", 2);
  const std::string from = io::absolute_path(places[0]), to = io::absolute_path(places[1]);
  for (const std::string& place : {from, to}) {
    if (const auto good = io::check_scheme(place); !good) return failed(good.error().text, 2);
  }
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&signals, signal);
  if (!io::is_remote(from)) {
    const auto stat = io::stat_of(from);
    if (!stat) return failed(stat.error().text, 1);
    if (!io::is_remote(to))
      return failed("sync: neither place is a store; use cp or rsync between folders", 2);
    if (stat->regular) return failed("sync: " + from + " is a file; give its folder", 2);
    if (follows) pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return said(upload(from, to, follows, signals), to);
  }
  if (follows) return failed("sync: --follow needs a folder of this machine as its source", 2);
  return said(io::is_remote(to) ? between_stores(from, to) : io::download_folder(from, to), to);
}

}  // namespace sonde::cli
