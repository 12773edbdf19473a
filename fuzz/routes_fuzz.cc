// Bodies and query strings of every route, TensorBoard's and our own, against a small store in
// memory and a small capture (its routes are told which one): the first byte chooses the route, the
// rest is the body (POST, PATCH) or the query (GET). Routes that take both get what the second byte
// says. Whatever comes, it answers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "api/routes.h"
#include "base/strings.h"
#include "tests/support/fake_series.h"

namespace {

using namespace sonde;

class NoBlobs final : public store::BlobReader {
 public:
  Result<std::string> event(const store::Reference&) const override {
    return fail(Code::kNotFound, "no blob");
  }
  Result<std::string> head(const store::Reference&, uint64_t) const override {
    return fail(Code::kNotFound, "no blob");
  }
};

// A log directory with one capture: two threads, a counter and an arrow.
std::string captured() {
  std::string folder = "/tmp/sonde-routes-fuzz-XXXXXX";
  if (!::mkdtemp(folder.data())) std::abort();
  const std::filesystem::path session = std::filesystem::path(folder) / "train/plugins/profile/s";
  std::filesystem::create_directories(session);
  std::ofstream file(session / "host.trace.json");
  file << R"({"traceEvents":[)";
  for (int i = 0; i < 40; ++i) {
    file << R"({"ph":"X","pid":1,"tid":)" << 1 + i % 2 << R"(,"ts":)" << 10 * i << R"(,"dur":)"
         << 7 + i % 30 << R"(,"name":"op)" << i % 5 << R"(","args":{"n":)" << i << "}},"
         << R"({"ph":"C","pid":1,"name":"memory","ts":)" << 10 * i << R"(,"args":{"bytes":)"
         << i * i << "}},";
  }
  file << R"({"ph":"s","id":1,"pid":1,"tid":1,"ts":1,"name":"launch"},)"
       << R"({"ph":"f","id":1,"pid":1,"tid":2,"ts":12,"name":"launch"}]})";
  return folder;
}

// Two runs with a short and a long series each.
class MemoryStore final : public store::Store {
 public:
  MemoryStore() {
    auto snapshot = std::make_shared<store::Snapshot>();
    snapshot->revision = 1;
    for (uint32_t r = 0; r < 2; ++r) {
      auto run = std::make_shared<store::RunSnapshot>();
      run->id = store::RunId{r};
      run->name = r == 0 ? "a" : "lr=0.1/b";
      run->has_events = true;
      run->revision = 1;
      for (const auto& [tag, n] : {std::pair{"loss", 50}, {"long", 9000}}) {
        auto series = std::make_shared<test::FakeSeries>(tag);
        for (int i = 0; i < n; ++i) series->add(i, 1e9 + i, i % 7 == 3 ? NAN : 0.5 * i);
        run->series.push_back(series);
      }
      snapshot->runs.push_back(run);
    }
    snapshot_ = snapshot;
    options_.roots = {{"", captured()}};
  }
  std::shared_ptr<const store::Snapshot> snapshot() const override { return snapshot_; }
  const store::BlobReader& blobs() const override { return blobs_; }
  store::Diagnosis diagnosis() const override { return {}; }
  const store::Options& options() const override { return options_; }
  std::shared_ptr<const std::vector<io::NamedFolder>> folders() const override {
    const io::ScanRoot root{"", options_.roots[0].path};
    return std::make_shared<const std::vector<io::NamedFolder>>(
        io::named_folders(io::scan({root}), {root}));
  }
  void wait_loaded(const std::function<void(const store::LoadProgress&)>&) override {}
  void reload() override {}
  std::shared_ptr<void> subscribe(std::function<void(const store::Change&)>) override {
    return nullptr;
  }

 private:
  std::shared_ptr<const store::Snapshot> snapshot_;
  NoBlobs blobs_;
  store::Options options_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryStore store;
  static const api::Settings settings = [] {
    ::unsetenv("XDG_STATE_HOME");
    ::unsetenv("HOME");
    api::Settings made;
    made.boot = "fuzz";
    made.read_only_sidecar = true;
    return made;
  }();
  static ThreadPool pool("fuzz", 1);
  static api::Services services(store, settings);
  static const api::Context context{store, settings, pool, services};
  if (size == 0) return 0;
  static const std::vector<api::Route> routes = [] {
    std::vector<api::Route> own;
    for (const api::Route& route : api::all_routes()) {
      if (route.path != "/api/v1/events") own.push_back(route);  // a stream without end
    }
    return own;
  }();
  const api::Route& route = routes[data[0] % routes.size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  api::Request request;
  const bool posts = route.method == "*" && size > 1 && data[1] % 2 == 1;
  request.method = route.method != "*" ? std::string(route.method) : posts ? "POST" : "GET";
  request.path = route.path;
  request.headers = {{"sonde-request", "1"}, {"content-type", "application/x-www-form-urlencoded"}};
  if (request.path.find("/trace") != std::string::npos ||
      request.path.find("/profile/") != std::string::npos)
    request.query = {{"session", "train/s"}, {"host", "0"}};
  if (request.path.ends_with('*')) {
    request.path.pop_back();
    request.path += text;
  } else if (request.method == "GET") {
    request.raw_query = text;
    for (const std::string_view pair : split(request.raw_query, '&')) {
      const size_t equals = pair.find('=');
      request.query.emplace_back(
          percent_decoded(pair.substr(0, equals), Plus::kSpace),
          equals == pair.npos ? "" : percent_decoded(pair.substr(equals + 1)));
    }
  } else {
    request.body = text;
  }
  api::Answer answer = route.handle(context, request);
  if (answer.status >= 500) std::abort();
  for (int i = 0; answer.stream && i < 100; ++i) {
    if (!answer.stream->next()) break;
  }
  return 0;
}
