#include "io/remote/http.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "base/strings.h"

namespace sonde::io {
namespace {

// The part of libcurl's binary interface that is used. It has been stable since 2006 (soname 4), so
// the numbers stand here instead of a build that needs its headers.
struct Curl {
  using Handle = void;
  struct List;
  enum Option : int {
    kUrl = 10002,
    kPostFields = 10015,
    kUserAgent = 10018,
    kHttpHeader = 10023,
    kHeaderData = 10029,
    kCustomRequest = 10036,
    kWriteData = 10001,
    kErrorBuffer = 10010,
    kWriteFunction = 20011,
    kHeaderFunction = 20079,
    kLowSpeedLimit = 19,
    kLowSpeedTime = 20,
    kNoBody = 44,
    kPost = 47,
    kFollowLocation = 52,
    kPostFieldSize = 60,
    kMaxRedirects = 68,
    kNoSignal = 99,
    kConnectTimeoutMs = 156,
    kProtocols = 181,
    kRedirectProtocols = 182,
  };
  static constexpr int kResponseCode = 0x200002;
  static constexpr long kHttpAndHttps = 1 | 2;

  int (*global_init)(long) = nullptr;
  Handle* (*easy_init)() = nullptr;
  void (*easy_reset)(Handle*) = nullptr;
  void (*easy_cleanup)(Handle*) = nullptr;
  int (*easy_setopt)(Handle*, int, ...) = nullptr;
  int (*easy_getinfo)(Handle*, int, ...) = nullptr;
  int (*easy_perform)(Handle*) = nullptr;
  const char* (*easy_strerror)(int) = nullptr;
  List* (*slist_append)(List*, const char*) = nullptr;
  void (*slist_free_all)(List*) = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Null when there is none.
const Curl* load_curl() {
  static const std::unique_ptr<const Curl> loaded = []() -> std::unique_ptr<const Curl> {
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"}) {
      if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) return nullptr;
    auto curl = std::make_unique<Curl>();
    const bool all = find(library, "curl_global_init", curl->global_init) &&
                     find(library, "curl_easy_init", curl->easy_init) &&
                     find(library, "curl_easy_reset", curl->easy_reset) &&
                     find(library, "curl_easy_cleanup", curl->easy_cleanup) &&
                     find(library, "curl_easy_setopt", curl->easy_setopt) &&
                     find(library, "curl_easy_getinfo", curl->easy_getinfo) &&
                     find(library, "curl_easy_perform", curl->easy_perform) &&
                     find(library, "curl_easy_strerror", curl->easy_strerror) &&
                     find(library, "curl_slist_append", curl->slist_append) &&
                     find(library, "curl_slist_free_all", curl->slist_free_all);
    constexpr long kEverything = 3;
    if (!all || curl->global_init(kEverything) != 0) return nullptr;
    return curl;
  }();
  return loaded.get();
}

struct Counters {
  std::atomic<uint64_t> requests = 0, failures = 0, retries = 0, bytes = 0;
};
Counters& counters() {
  static Counters all;
  return all;
}

struct Receiving {
  HttpAnswer answer;
  uint64_t limit = 0;
  bool is_too_large = false;
};

size_t take_body(const char* bytes, size_t size, size_t count, void* to) {
  auto& receiving = *static_cast<Receiving*>(to);
  const size_t all = size * count;
  if (receiving.answer.body.size() + all > receiving.limit) {
    receiving.is_too_large = true;
    return 0;
  }
  receiving.answer.body.append(bytes, all);
  return all;
}

size_t take_header(const char* bytes, size_t size, size_t count, void* to) {
  constexpr size_t kMostHeaders = 200;
  auto& headers = static_cast<Receiving*>(to)->answer.headers;
  const std::string_view line(bytes, size * count);
  const size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) headers.clear();  // of an interim answer
  if (colon == std::string_view::npos || headers.size() >= kMostHeaders) return line.size();
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  headers.emplace_back(std::move(name), trimmed(line.substr(colon + 1)));
  return line.size();
}

std::string host_of(std::string_view url) {
  const size_t begin = url.find("://");
  if (begin == std::string_view::npos) return std::string(url);
  std::string_view rest = url.substr(begin + 3);
  rest = rest.substr(0, rest.find_first_of("/?"));
  const size_t at = rest.rfind('@');
  return std::string(at == std::string_view::npos ? rest : rest.substr(at + 1));
}

// One a thread: its connections stay open.
Curl::Handle* handle_of_thread(const Curl& curl) {
  struct Owner {
    const Curl* curl = nullptr;
    Curl::Handle* handle = nullptr;
    ~Owner() {
      if (handle) curl->easy_cleanup(handle);
    }
  };
  thread_local Owner owner;
  if (!owner.handle) {
    owner.curl = &curl;
    owner.handle = curl.easy_init();
  }
  return owner.handle;
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &decltype(headers)::value_type::first);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

HttpCounts http_counts() {
  const Counters& all = counters();
  return {all.requests, all.failures, all.retries, all.bytes};
}

Result<HttpAnswer> http_once(const HttpRequest& request) {
  const Curl* curl = load_curl();
  if (!curl) {
    return fail(Code::kUnsupported,
                "reading over the network needs libcurl, which is not installed; on Debian and "
                "Ubuntu: apt install libcurl4");
  }
  Curl::Handle* handle = handle_of_thread(*curl);
  if (!handle) return fail(Code::kIo, "libcurl could not be started");
  curl->easy_reset(handle);
  Receiving receiving;
  receiving.limit = request.max_answer_bytes;
  std::array<char, 256> problem{};
  Curl::List* headers = nullptr;
  for (const auto& [name, value] : request.headers)
    headers = curl->slist_append(headers, (name + ": " + value).c_str());
  headers = curl->slist_append(headers, "Expect:");  // no pause before a body
  curl->easy_setopt(handle, Curl::kUrl, request.url.c_str());
  curl->easy_setopt(handle, Curl::kNoSignal, 1L);
  curl->easy_setopt(handle, Curl::kProtocols, Curl::kHttpAndHttps);
  if (request.follows) {
    curl->easy_setopt(handle, Curl::kFollowLocation, 1L);
    curl->easy_setopt(handle, Curl::kMaxRedirects, 3L);
    curl->easy_setopt(handle, Curl::kRedirectProtocols, Curl::kHttpAndHttps);
  }
  curl->easy_setopt(handle, Curl::kUserAgent, "sonde");
  curl->easy_setopt(handle, Curl::kConnectTimeoutMs, 10'000L);
  curl->easy_setopt(handle, Curl::kLowSpeedLimit, 1L);
  curl->easy_setopt(handle, Curl::kLowSpeedTime, 30L);
  curl->easy_setopt(handle, Curl::kHttpHeader, headers);
  curl->easy_setopt(handle, Curl::kErrorBuffer, problem.data());
  curl->easy_setopt(handle, Curl::kWriteFunction, &take_body);
  curl->easy_setopt(handle, Curl::kWriteData, &receiving);
  curl->easy_setopt(handle, Curl::kHeaderFunction, &take_header);
  curl->easy_setopt(handle, Curl::kHeaderData, &receiving);
  if (request.method == "HEAD") {
    curl->easy_setopt(handle, Curl::kNoBody, 1L);
  } else if (request.method != "GET") {
    curl->easy_setopt(handle, Curl::kPost, 1L);
    // Without bytes at all libcurl would read them from standard input.
    curl->easy_setopt(handle, Curl::kPostFields, request.body.empty() ? "" : request.body.data());
    curl->easy_setopt(handle, Curl::kPostFieldSize, static_cast<long>(request.body.size()));
    curl->easy_setopt(handle, Curl::kCustomRequest, request.method.c_str());
  }
  const int result = curl->easy_perform(handle);
  long status = 0;
  curl->easy_getinfo(handle, Curl::kResponseCode, &status);
  curl->slist_free_all(headers);
  Counters& all = counters();
  ++all.requests;
  all.bytes += receiving.answer.body.size();
  if (receiving.is_too_large) {
    return fail(Code::kTooLarge, host_of(request.url) + ": the answer is larger than " +
                                     human_bytes(request.max_answer_bytes));
  }
  if (result != 0) {
    ++all.failures;
    return fail(Code::kIo, host_of(request.url) + ": " +
                               (problem[0] ? problem.data() : curl->easy_strerror(result)));
  }
  receiving.answer.status = static_cast<int>(status);
  if (status >= 500) ++all.failures;
  return std::move(receiving.answer);
}

bool deserves_retry(const Result<HttpAnswer>& answer) {
  if (!answer) return answer.error().code == Code::kIo;
  constexpr std::array kForNow = {408, 429, 500, 502, 503, 504};
  return std::ranges::find(kForNow, answer->status) != kForNow.end();
}

void pause_before_retry(int attempt) {
  ++counters().retries;
  thread_local std::minstd_rand random(std::random_device{}());
  const int most_ms = std::min(100 << std::min(attempt, 6), 4000);
  std::uniform_int_distribution<int> pause(most_ms / 2, most_ms);
  std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
}

}  // namespace sonde::io
