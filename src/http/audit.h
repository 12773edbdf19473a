// What was changed on a server, by whom, and who was refused: a line of JSON each, appended to a file
// that only its owner reads. Queries are left out: they may hold a token. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::http {

struct AuditLine {
  std::string_view user, role, method, path;
  int status = 0;
};

class Audit {
 public:
  // Nothing is written when the path is empty.
  explicit Audit(std::string path) : path_(std::move(path)) {}
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  Result<void> open();  // kIo when it cannot be written
  bool is_kept() const { return fd_ >= 0; }
  void add(const AuditLine& line) const;
  std::string newest(uint64_t bytes) const;  // whole lines from the end

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace sonde::http
