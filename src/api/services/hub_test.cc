#include "api/services/hub.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "api/services/state.h"
#include "codec/json_read.h"

namespace sonde::api::v1 {
namespace {

// A store that publishes when told.
class FakeStore final : public store::Store {
 public:
  FakeStore() { snapshot_ = std::make_shared<store::Snapshot>(); }

  std::shared_ptr<const store::Snapshot> snapshot() const override { return snapshot_; }
  const store::BlobReader& blobs() const override { std::abort(); }
  store::Diagnosis diagnosis() const override { return {}; }
  const store::Options& options() const override { return options_; }
  std::shared_ptr<const std::vector<io::NamedFolder>> folders() const override {
    return std::make_shared<std::vector<io::NamedFolder>>();
  }
  void wait_loaded(const std::function<void(const store::LoadProgress&)>&) override {}
  void reload() override {}
  std::shared_ptr<void> subscribe(std::function<void(const store::Change&)> fn) override {
    const std::lock_guard lock(mutex_);
    callback_ = std::move(fn);
    return {this, [this](void*) {
              const std::lock_guard inner(mutex_);
              callback_ = nullptr;
            }};
  }
  bool publish(const store::Change& change) {
    auto next = std::make_shared<store::Snapshot>();
    next->revision = change.revision;
    snapshot_ = next;
    const std::lock_guard lock(mutex_);
    if (callback_) callback_(change);
    return callback_ != nullptr;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const store::Snapshot> snapshot_;
  store::Options options_;
  std::function<void(const store::Change&)> callback_;
};

// Collects what a client receives and waits for a text to come.
struct Client {
  std::mutex mutex;
  std::condition_variable arrived;
  std::string text;
  bool open = true;

  EventStream::Sink sink() {
    return [this](std::string piece) {
      const std::lock_guard lock(mutex);
      text += piece;
      arrived.notify_all();
      return open;
    };
  }
  bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex);
    return arrived.wait_for(lock, std::chrono::seconds(20),
                            [&] { return text.find(part) != text.npos; });
  }
};

}  // namespace

TEST_CASE("Pending: many series become runs, many runs become all") {
  Pending pending;
  for (uint32_t i = 0; i < 500; ++i) pending.add_series(i / 2, i, {1, 2});
  CHECK(pending.series.size() == 500);
  pending.add_series(3, 6, {9, 9});  // known already
  CHECK(pending.series.size() == 500);
  pending.add_series(9000, 1, {1, 1});
  CHECK(pending.series.empty());
  CHECK(pending.runs.size() == 251);
  for (uint32_t i = 0; i < 1000; ++i) pending.add_run(i);
  CHECK(pending.all);
  CHECK(pending.runs.empty());

  Pending first, later;
  first.added = {1};
  later.removed = {1};
  later.revision = 7;
  first.merge(later);
  CHECK(first.added.empty());
  CHECK(first.removed.contains(1));
  CHECK(first.revision == 7);
}

TEST_CASE("events_text: one event a sort of change, each with its id") {
  Pending pending;
  pending.revision = 5;
  pending.add_series(1, 2, {30, 40});
  pending.added = {1};
  CHECK(events_text(pending, "b") ==
        "id: b.5\nevent: runs\ndata: {\"rev\":5,\"added\":[1],\"removed\":[]}\n\n"
        "id: b.5\nevent: changed\ndata: {\"rev\":5,\"series\":[[1,2,30,40]]}\n\n");
  CHECK(events_text({}, "b").empty());
}

TEST_CASE("GET events: hello, changes, resuming, and nothing after the client has gone") {
  FakeStore store;
  Settings settings;
  settings.boot = "hub-test";
  ThreadPool pool("test", 1);
  Services services(store, settings);
  const Context context{store, settings, pool, services};
  Request request;
  request.path = "/api/v1/events";
  const auto ask = [&](Client& client) {
    const Answer answer = handle(context, request);
    const auto* stream = std::get_if<std::shared_ptr<EventStream>>(&answer.body);
    REQUIRE(stream);
    CHECK(answer.content_type == "text/event-stream");
    return (*stream)->open(client.sink());
  };

  Client one;
  auto handle_one = ask(one);
  CHECK(one.wait_for("event: hello\ndata: {\"boot\":\"hub-test\",\"rev\":0"));
  CHECK(store.publish({1, {}, {store::RunId{4}}, {}, {}}));
  CHECK(one.wait_for("event: runs\ndata: {\"rev\":1,\"added\":[4],\"removed\":[]}"));

  SUBCASE("a change that comes at once after another is sent too") {
    for (uint64_t rev = 2; rev < 30; ++rev)
      store.publish({rev, {}, {}, {}, {store::RunId{static_cast<uint32_t>(rev)}}});
    CHECK(one.wait_for("29]}"));
  }
  SUBCASE("an id of another boot or of the future means reset, a fitting one does not") {
    struct Case {
      const char* id;
      bool reset;
    };
    for (const Case& c :
         {Case{"other.1", true}, {"hub-test.999", true}, {"junk", true}, {"hub-test.1", false}}) {
      request.headers = {{"last-event-id", c.id}};
      Client two;
      const auto handle_two = ask(two);
      REQUIRE(two.wait_for("event: hello"));
      CHECK((two.text.find("event: reset") != std::string::npos) == c.reset);
    }
  }
  SUBCASE("what is saved in the sidecar is told") {
    services.state().hub().broadcast("sidecar", "{\"etag\":\"x\"}");
    CHECK(one.wait_for("event: sidecar\ndata: {\"etag\":\"x\"}"));
  }
  handle_one.reset();
  CHECK(services.state().hub().clients() == 0);
  CHECK(!store.publish({99, {}, {store::RunId{5}}, {}, {}}));
}

}  // namespace sonde::api::v1
