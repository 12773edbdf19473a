// Logging to a store: records go to event files in a folder of this machine, the outbox, and a thread
// uploads them from there. What was flushed is on disk before any network is asked, so it outlives a
// network that is down and a program that is killed; `sonde sync --pending` uploads what was left.
// After fork() each process uploads the files that it wrote. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace sonde::writer {

// SONDE_OUTBOX_DIR, or sonde/outbox in the user's folder for state.
std::string outbox_folder();

class Outbox {
 public:
  using Report = std::function<void(const std::string&)>;
  // A folder of its own for an address (s3://…); nothing is asked of the store yet.
  static Result<std::shared_ptr<Outbox>> make(const std::string& address, Report on_problem);
  ~Outbox();

  const std::string& folder() const { return folder_; }
  const std::string& address() const { return address_; }

  // A file was begun in the folder: uploads from now on.
  void begin();
  // Uploads the rest, for as long as SONDE_UPLOAD_WAIT says (60 s), and removes what has arrived.
  // What has not stays, and one sentence says where.
  void close();

 private:
  struct State;
  Outbox(std::string folder, std::string address, Report on_problem);
  State& state();
  void leave_behind();
  bool upload_once(State& state) const;
  void run(State& state) const;
  void report(const std::string& text) const;

  const std::string folder_, address_;
  const Report on_problem_;
  std::unique_ptr<State> state_;  // of this process
};

// Folders that programs which are gone have left in the outbox.
struct Pending {
  std::string folder, address;
};
std::vector<Pending> pending_uploads();

}  // namespace sonde::writer
