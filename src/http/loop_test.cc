#include "http/loop.h"

#include <doctest/doctest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <stdexcept>

#include "http/site.h"
#include "tests/support/log_maker.h"

using namespace sonde;
namespace asio = boost::asio;

namespace {

// A loop with what it needs of a server: an empty log directory and no sockets.
struct Ground {
  test::Folder folder;
  std::unique_ptr<store::Store> store;
  api::Settings settings;
  ThreadPool pool{"test", 1};
  std::unique_ptr<api::Services> services;
  std::unique_ptr<api::Context> context;
  http::Metrics metrics;
  std::unique_ptr<http::Site> site;
  http::ListenOptions options;
  std::unique_ptr<http::Shared> shared;
  std::unique_ptr<http::Loop> loop;

  Ground() {
    store::Options wanted;
    wanted.roots.push_back({"", folder.path().string()});
    wanted.follow = false;
    auto opened = store::Store::open(wanted);
    REQUIRE(opened);
    store = std::move(*opened);
    services = std::make_unique<api::Services>(*store, settings);
    context.reset(new api::Context{*store, settings, pool, *services});
    site = std::make_unique<http::Site>(http::SiteOptions{}, *context, metrics);
    options.head_timeout = std::chrono::milliseconds(80);  // the loop's clock ticks every 20 ms
    shared.reset(new http::Shared{options, *site, pool, pool, 10, false});
    loop = std::make_unique<http::Loop>(*shared);
  }
};

struct FakeSession final : http::Session {
  std::function<void()> on_start, on_tick, on_close;
  void start() override {
    if (on_start) on_start();
  }
  void tick(Clock::time_point) override {
    if (on_tick) on_tick();
  }
  bool is_idle() const override { return false; }
  bool is_busy() const override { return false; }
  void close() override {
    if (on_close) on_close();
  }
};

}  // namespace

TEST_CASE("Loop: what a handler throws does not end it") {
  Ground ground;
  auto& context = ground.loop->context();
  bool went_on = false;
  asio::post(context, [] { throw std::runtime_error("a library's"); });
  asio::post(context, [] { throw 7; });
  asio::post(context, [&] {
    went_on = true;
    context.stop();
  });
  ground.loop->run();
  CHECK(went_on);
}

TEST_CASE("Loop: a session that throws is closed, and the others' clock goes on") {
  Ground ground;
  auto& context = ground.loop->context();
  const auto never_ends = asio::make_work_guard(context);
  auto broken = std::make_shared<FakeSession>(), stillborn = std::make_shared<FakeSession>(),
       sound = std::make_shared<FakeSession>();
  int ticks_after = 0;
  bool is_closed = false, was_refused = false;
  broken->on_tick = [&] {
    if (!is_closed) throw std::runtime_error("a library's");
  };
  broken->on_close = [&] { is_closed = true; };
  stillborn->on_start = [] { throw std::bad_alloc(); };
  stillborn->on_close = [&] { was_refused = true; };
  sound->on_tick = [&] {
    if (is_closed && ++ticks_after == 2) context.stop();
  };
  asio::post(context, [&] {
    for (const auto& session : {broken, stillborn, sound}) ground.loop->add(session);
  });
  ground.loop->run();
  CHECK(is_closed);
  CHECK(was_refused);
  CHECK(ticks_after == 2);
}
