#include "api/services/state.h"

#include <algorithm>
#include <unordered_set>

#include "api/services/hub.h"
#include "api/services/jobs.h"
#include "api/v1/support.h"
#include "base/log.h"
#include "base/strings.h"
#include "io/write_file.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxSlotNames = 200000;
constexpr size_t kMaxSlotBytes = 64u << 20;

void note_steps(const store::Series& series, TagRow& row) {
  const auto take = [&](Step step) {
    row.min_step = row.has_steps ? std::min(row.min_step, step) : step;
    row.max_step = row.has_steps ? std::max(row.max_step, step) : step;
    row.has_steps = true;
  };
  const auto ranges = series.ranges(store::View::kNewest);
  const auto at = [&](uint64_t index) {
    if (series.is_scalar()) {
      series.blocks({index, index + 1},
                    [&](const store::ScalarBlock& block) { take(block.steps.front()); });
    } else {
      for (const auto& point : series.points({index, index + 1})) take(point.step);
    }
  };
  for (const auto& range : ranges) {
    if (range.begin >= range.end) continue;
    at(range.begin);
    at(range.end - 1);
  }
}

}  // namespace

namespace {

std::string job_text(const JobStatus& status) {
  std::string data;
  JsonWriter json(data);
  json.object([&] {
    json.key("job").number(status.id);
    json.key("state").string(name_of(status.state));
  });
  return data;
}

}  // namespace

State::State(const store::Options& options, const Settings& settings)
    : sidecar_(options, settings),
      hub_(std::make_unique<Hub>()),
      jobs_(std::make_unique<Jobs>(
          [this](const JobStatus& status) { hub_->broadcast("job", job_text(status)); })) {
  const std::string folder = state_folder_of(options);
  if (folder.empty()) return;
  slots_path_ = folder + "/slots.json";
  const auto text = io::read_whole(slots_path_, kMaxSlotBytes);
  const auto kept = text ? read_json(*text) : fail(text.error());
  if (!kept) return;  // a file that is missing or broken: colours start anew
  for (const auto& [name, value] : kept->members) {
    const auto slot = value.integer();
    if (!slot || *slot < 0 || *slot > UINT32_MAX - 1) continue;
    slots_.emplace(name, static_cast<uint32_t>(*slot));
    next_slot_ = std::max(next_slot_, static_cast<uint32_t>(*slot) + 1);
  }
}

State::~State() = default;

uint32_t State::tag_id(std::string_view name, std::string_view kind) {
  std::string key(kind);
  key.push_back('\0');
  key.append(name);
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = tag_ids_.emplace(std::move(key), next_tag_);
  if (is_new) ++next_tag_;
  return at->second;
}

// Logs that come and go for weeks must not be remembered for ever. A tag that comes back after so
// many others gets another number, as after a restart.
void State::forget_tags(const std::vector<TagRow>& present) {
  if (tag_ids_.size() <= present.size() + kMaxGone) return;
  std::unordered_set<uint32_t> ids;
  for (const TagRow& row : present) ids.insert(row.id);
  std::erase_if(tag_ids_, [&](const auto& entry) {
    return !ids.contains(entry.second) && entry.second + kMaxGone / 2 < next_tag_;
  });
}

// Of the runs that have gone the younger half keeps its colours.
void State::forget_slots(const store::Snapshot& snapshot) {
  if (slots_.size() <= snapshot.runs.size() + kMaxGone) return;
  std::unordered_set<std::string_view> present;
  for (const auto& run : snapshot.runs) present.insert(run->name);
  std::erase_if(slots_, [&](const auto& entry) {
    return !present.contains(entry.first) && entry.second + kMaxGone / 2 < next_slot_;
  });
}

size_t State::remembered() const {
  const std::lock_guard lock(mutex_);
  return tag_ids_.size() + slots_.size() + known_runs_.size();
}

std::shared_ptr<const std::vector<TagRow>> State::tags(const store::Snapshot& snapshot) {
  {
    const std::lock_guard lock(mutex_);
    if (tags_ && tags_revision_ == snapshot.revision) return tags_;
  }
  auto rows = std::make_shared<std::vector<TagRow>>();
  std::unordered_map<std::string_view, std::vector<size_t>> by_name;  // rows of that name
  for (const auto& run : snapshot.runs) {
    for (const auto& series : run->series) {
      const std::string_view kind = kind_of(*series);
      const std::string& tag = series->tag();
      auto& same = by_name[tag];
      auto found =
          std::find_if(same.begin(), same.end(), [&](size_t i) { return (*rows)[i].kind == kind; });
      if (found == same.end()) {
        const auto& metadata = series->metadata();
        TagRow row;
        row.id = tag_id(tag, kind);
        row.name = tag;
        row.kind = kind;
        row.plugin = metadata.plugin;
        // Old summaries carry their tag as display name, which says nothing.
        if (metadata.display_name != tag) row.title = metadata.display_name;
        row.description = metadata.description;
        rows->push_back(std::move(row));
        same.push_back(rows->size() - 1);
        found = std::prev(same.end());
      }
      TagRow& row = (*rows)[*found];
      const auto id = static_cast<uint32_t>(run->id);
      if (row.runs.empty() || row.runs.back() != id) row.runs.push_back(id);
      row.newest = series;
      row.points += series->size(store::View::kNewest);
      row.revision = std::max(row.revision, series->revision());
      note_steps(*series, row);
    }
  }
  for (TagRow& row : *rows) std::sort(row.runs.begin(), row.runs.end());
  std::sort(rows->begin(), rows->end(), [](const TagRow& a, const TagRow& b) {
    const int order = natural_compare(a.name, b.name);
    return order != 0 ? order < 0 : a.kind < b.kind;
  });
  const std::lock_guard lock(mutex_);
  forget_tags(*rows);
  tags_ = rows;
  tags_revision_ = snapshot.revision;
  return rows;
}

std::vector<int64_t> State::slots(const store::Snapshot& snapshot) {
  std::vector<int64_t> slots;
  slots.reserve(snapshot.runs.size());
  const std::lock_guard lock(mutex_);
  for (const auto& run : snapshot.runs) {
    if (!run->has_events) {
      slots.push_back(-1);
      continue;
    }
    const auto [at, is_new] = slots_.emplace(run->name, next_slot_);
    if (is_new) {
      ++next_slot_;
      slots_dirty_ = true;
    }
    slots.push_back(at->second);
  }
  forget_slots(snapshot);
  if (slots_dirty_ && !snapshot.progress.loading) keep_slots();
  return slots;
}

void State::keep_slots() {
  slots_dirty_ = false;
  if (slots_path_.empty() || slots_.size() > kMaxSlotNames) return;
  std::vector<std::pair<uint32_t, std::string_view>> order;
  for (const auto& [name, slot] : slots_) order.emplace_back(slot, name);
  std::sort(order.begin(), order.end());
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    for (const auto& [slot, name] : order) json.key(name).number(slot);
  });
  if (const auto written = io::write_whole(slots_path_, text); !written)
    log::debug("colours of runs are not remembered: {}", written.error().text);
}

std::vector<uint32_t> State::removed(const store::Snapshot& snapshot, uint64_t since) {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> present;
  for (const auto& run : snapshot.runs) present.push_back(static_cast<uint32_t>(run->id));
  for (auto& [id, missed] : known_runs_) {
    if (missed == 0) missed = snapshot.revision + 1;  // unless it is seen below
  }
  for (const uint32_t id : present) known_runs_[id] = 0;
  // Ids rise with time: the oldest are forgotten first. A client that was away for longer than
  // that takes the list anew.
  for (auto at = known_runs_.begin();
       known_runs_.size() > present.size() + kMaxGone && at != known_runs_.end();) {
    at = at->second != 0 ? known_runs_.erase(at) : std::next(at);
  }
  std::vector<uint32_t> gone;
  for (const auto& [id, missed] : known_runs_) {
    if (missed > since) gone.push_back(id);
  }
  return gone;
}

}  // namespace sonde::api::v1
