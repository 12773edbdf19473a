#include "api/provider/provider.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "codec/wire.h"
#include "tests/support/log_maker.h"

using namespace sonde;

namespace {

struct Site {
  test::Folder folder;
  std::unique_ptr<store::Store> store;
  api::Settings settings;
  ThreadPool pool{"test", 1};
  std::unique_ptr<api::Services> services;  // made with the first call

  explicit Site(const std::string& bytes) {
    std::filesystem::create_directories(folder.path() / "run");
    std::ofstream(folder.path() / "run/events.out.tfevents.1") << bytes;
    store::Options options;
    options.roots.push_back({"", folder.path().string()});
    options.follow = false;
    auto opened = store::Store::open(options);
    REQUIRE(opened);
    store = std::move(*opened);
    store->wait_loaded();
    settings.logdir = "logs";
  }

  Result<std::vector<std::string>> call(const std::string& method, const std::string& message) {
    if (!services) services = std::make_unique<api::Services>(*store, settings);
    const api::Context context{*store, settings, pool, *services};
    return api::provider::call(context, "/tensorboard.data.TensorBoardDataProvider/" + method,
                               as_bytes(message));
  }
};

std::string question(std::string_view plugin, int64_t points = -1) {
  std::string out;
  wire::Encoder encoder(out);
  encoder.message(2, [&](wire::Encoder& filter) { filter.bytes(1, plugin); });
  if (points >= 0) {
    encoder.message(
        4, [&](wire::Encoder& downsample) { downsample.varint(1, static_cast<uint64_t>(points)); });
  }
  return out;
}

// The bytes at a path of field numbers, the first of each.
std::string at(std::string message, std::initializer_list<uint32_t> path) {
  for (const uint32_t number : path) {
    std::string found;
    wire::Cursor cursor(as_bytes(message));
    for (wire::Field field; cursor.next(field);) {
      if (field.number == number && field.is_bytes() && found.empty()) found = field.text();
    }
    message = found;
  }
  return message;
}

std::string three_points() {
  std::string bytes = test::frame(test::version_event(test::kT0));
  for (const Step step : {0, 1, 2}) {
    bytes +=
        test::frame(test::scalar_event("loss", step, test::kT0 + static_cast<double>(step), 0.5F));
  }
  return bytes;
}

}  // namespace

TEST_CASE("Data provider: runs, plug-ins and scalars of a log directory") {
  Site site(three_points());
  CHECK(at((*site.call("GetExperiment", ""))[0], {1}) == "logs");
  CHECK(at((*site.call("ListPlugins", ""))[0], {1, 1}) == "scalars");
  CHECK(at((*site.call("ListRuns", ""))[0], {1, 2}) == "run");
  const auto listed = site.call("ListScalars", question("scalars"));
  REQUIRE(listed);
  CHECK(at((*listed)[0], {1, 2, 1}) == "loss");
  CHECK(at((*listed)[0], {1, 2, 2, 3, 1, 1}) == "scalars");
  const auto all = site.call("ReadScalars", question("scalars", 1000));
  REQUIRE(all);
  CHECK(at((*all)[0], {1, 2, 2, 1}) == std::string("\0\1\2", 3));
  CHECK(at((*all)[0], {1, 2, 2, 3}).size() == 3 * sizeof(float));
  // One point is the last; 0 is TensorBoard's way of asking for all of them.
  CHECK(at((*site.call("ReadScalars", question("scalars", 1)))[0], {1, 2, 2, 1}) == "\2");
  CHECK(at((*site.call("ReadScalars", question("scalars", 0)))[0], {1, 2, 2, 1}).size() == 3);
  CHECK((*site.call("ReadScalars", question("images", 9)))[0].empty());
}

TEST_CASE("Data provider: only the wanted runs and tags") {
  Site site(three_points());
  const auto filtered = [&](std::string_view run, std::string_view tag) {
    std::string message = question("scalars", 10);
    wire::Encoder(message).message(3, [&](wire::Encoder& filter) {
      filter.message(1, [&](wire::Encoder& names) { names.bytes(1, run); });
      filter.message(2, [&](wire::Encoder& names) { names.bytes(1, tag); });
    });
    return (*site.call("ReadScalars", message))[0].size();
  };
  CHECK(filtered("run", "loss") > 0);
  CHECK(filtered("run", "other") == 0);
  CHECK(filtered("other", "loss") == 0);
}

TEST_CASE("Data provider: what it cannot answer it refuses with a sentence") {
  Site site(three_points());
  CHECK(site.call("Nothing", "").error().code == Code::kUnsupported);
  CHECK(site.call("ReadScalars", question("scalars")).error().code == Code::kInvalid);
  CHECK(site.call("ListScalars", "\x12\xff").error().code == Code::kInvalid);
  CHECK(site.call("ReadBlob", "\x0a\x03???").error().code == Code::kInvalid);
}
