#include "api/services/hub.h"

#include <algorithm>

#include "api/services/state.h"
#include "api/v1/support.h"
#include "codec/json.h"

namespace sonde::api::v1 {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenChanges = 100ms;
constexpr auto kBetweenProgress = 250ms;
constexpr auto kSilence = 15s;

void write_ids(JsonWriter& json, std::string_view name, const std::set<uint32_t>& ids) {
  json.key(name).array([&] {
    for (const uint32_t id : ids) json.number(id);
  });
}

std::string load_text(const store::LoadProgress& progress, double seconds) {
  std::string data;
  JsonWriter json(data);
  json.object([&] {
    json.key("files").number(progress.files);
    json.key("files_done").number(progress.files_done);
    json.key("bytes").number(progress.bytes);
    json.key("bytes_done").number(progress.bytes_done);
    json.key("points").number(progress.points);
    json.key("loading").boolean(progress.loading);
    if (progress.loading && progress.bytes_done > 0 && progress.bytes >= progress.bytes_done) {
      const auto left = static_cast<double>(progress.bytes - progress.bytes_done);
      json.key("eta_s").number(seconds * left / static_cast<double>(progress.bytes_done));
    }
  });
  return event_text("load", data);
}

}  // namespace

void Pending::add_series(uint32_t run, uint32_t tag, Last last) {
  if (all) return;
  if (!runs.empty() || (series.size() >= kMostSeries && !series.contains({run, tag})))
    return add_run(run);
  series[{run, tag}] = last;
}

void Pending::add_run(uint32_t run) {
  if (all) return;
  for (const auto& [key, last] : series) runs.insert(key.first);
  series.clear();
  runs.insert(run);
  if (runs.size() <= kMostSeries) return;
  runs.clear();
  all = true;
}

void Pending::merge(const Pending& later) {
  revision = std::max(revision, later.revision);
  if (later.all) {
    all = true;
    series.clear();
    runs.clear();
  }
  for (const uint32_t run : later.runs) add_run(run);
  for (const auto& [key, last] : later.series) add_series(key.first, key.second, last);
  for (const uint32_t run : later.added) {
    removed.erase(run);
    added.insert(run);
  }
  for (const uint32_t run : later.removed) {
    added.erase(run);
    removed.insert(run);
  }
  damaged.insert(later.damaged.begin(), later.damaged.end());
}

std::string event_text(std::string_view name, std::string_view data, std::string_view id) {
  std::string text;
  if (!id.empty()) text.append("id: ").append(id).append("\n");
  return text.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
}

std::string events_text(const Pending& pending, std::string_view boot) {
  const std::string id = std::string(boot) + "." + std::to_string(pending.revision);
  std::string text;
  const auto event = [&](std::string_view name, auto&& members) {
    std::string data;
    JsonWriter json(data);
    json.object([&] {
      json.key("rev").number(pending.revision);
      members(json);
    });
    text += event_text(name, data, id);
  };
  if (!pending.added.empty() || !pending.removed.empty()) {
    event("runs", [&](JsonWriter& json) {
      write_ids(json, "added", pending.added);
      write_ids(json, "removed", pending.removed);
    });
  }
  if (!pending.damaged.empty())
    event("damage", [&](JsonWriter& json) { write_ids(json, "runs", pending.damaged); });
  if (pending.has_changes()) {
    event("changed", [&](JsonWriter& json) {
      if (pending.all) {
        json.key("all").boolean(true);
      } else if (!pending.runs.empty()) {
        write_ids(json, "runs", pending.runs);
      } else {
        json.key("series").array([&] {
          for (const auto& [key, last] : pending.series) {
            json.array([&] {
              json.number(key.first);
              json.number(key.second);
              json.number(last.points);
              json.safe_integer(last.step);
            });
          }
        });
      }
    });
  }
  return text;
}

Hub::Hub() = default;

Hub::~Hub() {
  if (thread_.joinable()) {
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
  }
}

size_t Hub::clients() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

std::shared_ptr<void> Hub::join(const Context& context, State& state, EventStream::Sink sink,
                                std::string first, const std::function<Pending()>& missed) {
  auto client = std::make_shared<Client>();
  client->sink = std::move(sink);
  client->texts.push_back(std::move(first));
  bool subscribes = false;
  {
    const std::lock_guard lock(mutex_);
    boot_ = context.settings.boot;
    clients_.push_back(client);
    subscribes = clients_.size() == 1;
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) {
        name_this_thread("events");
        work(stop);
      });
    }
  }
  wake_.notify_all();
  if (subscribes) {
    // The callback runs on a store thread, so the store and all that `context` names are there.
    auto subscription = context.store.subscribe(
        [this, context, &state](const store::Change& change) { take(context, state, change); });
    const std::lock_guard lock(mutex_);
    if (!clients_.empty()) subscription_.swap(subscription);  // else the client has gone already
  }
  const Pending pending = missed();
  {
    const std::lock_guard lock(mutex_);
    client->pending.merge(pending);
  }
  wake_.notify_all();
  return {client.get(), [this, client](void*) { leave(client); }};
}

void Hub::leave(const std::shared_ptr<Client>& client) {
  std::shared_ptr<void> dropped;  // after the lock: the store may wait for a running callback
  const std::lock_guard lock(mutex_);
  client->gone = true;
  std::erase(clients_, client);
  if (clients_.empty()) dropped = std::move(subscription_);
}

void Hub::broadcast(std::string_view name, std::string_view data) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& client : clients_) client->texts.push_back(event_text(name, data));
  }
  wake_.notify_all();
}

void Hub::take(const Context& context, State& state, const store::Change& change) {
  const auto snapshot = context.store.snapshot();
  Pending pending;
  pending.revision = change.revision;
  for (const auto run : change.added) pending.added.insert(static_cast<uint32_t>(run));
  for (const auto run : change.removed) pending.removed.insert(static_cast<uint32_t>(run));
  for (const auto run : change.damaged) pending.damaged.insert(static_cast<uint32_t>(run));
  for (const auto& changed : change.series) {
    const auto run = static_cast<uint32_t>(changed.run);
    if (pending.all) break;
    if (!pending.runs.empty()) {
      pending.add_run(run);
      continue;
    }
    const store::RunSnapshot* found = snapshot->find(changed.run);
    const store::Series* series = found ? found->find(changed.tag) : nullptr;
    if (!series) continue;
    pending.add_series(run, state.tag_id(changed.tag, kind_of(*series)),
                       {changed.points, changed.last_step});
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& client : clients_) client->pending.merge(pending);
  }
  take_progress(snapshot->progress);
  wake_.notify_all();
}

void Hub::take_progress(const store::LoadProgress& progress) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (progress.loading && !was_loading_) load_began_ = now;
  const bool ends = was_loading_ && !progress.loading;
  const bool due = progress.loading && now - load_sent_ >= kBetweenProgress;
  was_loading_ = progress.loading;
  if (!ends && !due) return;
  load_sent_ = now;
  const std::string text =
      load_text(progress, std::chrono::duration<double>(now - load_began_).count());
  for (const auto& client : clients_) client->texts.push_back(text);
}

// Sends what is due to every client; says when something will be due next. The lock is released
// while a sink is called.
std::optional<Hub::Clock::time_point> Hub::send_due(std::unique_lock<std::mutex>& lock) {
  std::optional<Clock::time_point> next;
  const auto at = [&](Clock::time_point time) { next = next ? std::min(*next, time) : time; };
  const auto now = Clock::now();
  std::vector<std::pair<std::shared_ptr<Client>, std::string>> out;
  for (const auto& client : clients_) {
    std::string text;
    for (const std::string& event : client->texts) text += event;
    client->texts.clear();
    if (!client->pending.empty()) {
      if (now - client->last_changed >= kBetweenChanges) {
        text += events_text(client->pending, boot_);
        client->pending = {};
        client->last_changed = now;
      } else {
        at(client->last_changed + kBetweenChanges);
      }
    }
    if (text.empty() && now - client->last_sent >= kSilence) text = ": still here\n\n";
    if (!text.empty()) {
      client->last_sent = now;
      out.emplace_back(client, std::move(text));
    }
    at(client->last_sent + kSilence);
  }
  lock.unlock();
  for (auto& [client, text] : out) {
    if (!client->sink(std::move(text))) leave(client);
  }
  out.clear();
  lock.lock();
  return next;
}

void Hub::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto waiting = [this] {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
      return !client->texts.empty() ||
             (!client->pending.empty() && Clock::now() - client->last_changed >= kBetweenChanges);
    });
  };
  while (!stop.stop_requested()) {
    const auto next = send_due(lock);
    if (next) {
      wake_.wait_until(lock, stop, *next, waiting);
    } else {
      wake_.wait(lock, stop, [this] { return !clients_.empty(); });
    }
  }
}

}  // namespace sonde::api::v1
