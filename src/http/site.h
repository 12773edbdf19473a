// What is behind the door: decides from a request's head whether it is refused, redirected,
// answered from the embedded page, or handed to api::handle, and which lane computes it. Knows no
// plug-in's name and no socket. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "api/routes.h"
#include "http/audit.h"
#include "http/guard.h"
#include "http/metrics.h"
#include "http/reply.h"
#include "http/request_reader.h"
#include "http/response_cache.h"
#include "io/spool.h"

namespace sonde::http {

struct SiteOptions {
  Access access;
  std::string path_prefix;  // "" or "/prefix"
  std::string audit_file;   // what was changed and who was refused, a line of JSON each
  enum class Compression : uint8_t { kAuto, kAlways, kNever } compression = Compression::kAuto;
};

// Where an answer is computed. A route may tell from the request; the others move
// between lanes by what their answers cost lately: quick ones on the connection's own thread, the
// rest on workers, and what takes long on workers that give way to all others, so that a large
// answer never delays a small one.
enum class Lane : uint8_t { kInline, kWorker, kSlowLane };

// The other end of the connection.
struct Peer {
  bool is_loopback = true;
  bool is_tls = false;
};

// One request between its head and its reply.
struct Exchange {
  Head head;
  const User* user = nullptr;  // who asks, where the server knows its users
  api::Request request;
  std::optional<Reply> reply;          // decided by the head alone
  std::chrono::milliseconds delay{0};  // before that reply is sent: wrong tokens cost time
  uint64_t body_limit = 0;
  std::shared_ptr<io::Spool> upload;  // where the body goes when it may be large
  std::optional<size_t> route;
  Compress compress = Compress::kNo;
  std::string address;              // under which the answer is kept; empty: it is not
  uint64_t version = 0;             // of that answer
  std::optional<api::Answer> kept;  // made for an earlier request and still true
};

class Site {
 public:
  Site(SiteOptions options, const api::Context& context, Metrics& metrics);

  Exchange begin(Head head, const Peer& peer);  // never throws
  Lane lane(const Exchange& exchange) const;    // never throws
  Reply finish(Exchange& exchange,
               std::string body);  // never throws; exchange.upload instead of it

  const Policy& policy() const { return policy_; }
  Metrics& metrics() { return metrics_; }

 private:
  void decide(Exchange& exchange, const Peer& peer);
  bool refuse(Exchange& exchange, const Peer& peer, const Target& target);
  bool is_beyond_role(Exchange& exchange, const Target& target);
  bool check_token(Exchange& exchange, const Peer& peer, const Target& target);
  Reply page(const Exchange& exchange, const Target& target, const Asset& asset);
  void answer(Exchange& exchange, api::Answer answer);
  void look_up(Exchange& exchange);
  void keep(const Exchange& exchange, api::Answer& answer);
  bool answer_about_users(Exchange& exchange, const Target& target);
  void note(const Exchange& exchange, std::string_view path, int status) const;
  std::chrono::milliseconds penalty();

  SiteOptions options_;
  const api::Context& context_;
  Metrics& metrics_;
  Policy policy_;
  ResponseCache kept_;
  Audit audit_;
  io::SpoolQuota uploads_;
  std::unique_ptr<std::atomic<uint32_t>[]> cost_us_;  // by route; the recent worst, decaying
  std::atomic<uint32_t> wrong_tokens_{0};
  std::atomic<int64_t> last_wrong_ms_{0};
};

}  // namespace sonde::http
