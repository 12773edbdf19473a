#include "log/query/hparams/params.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "log/query/hparams/hparams.h"

namespace sonde::query {
namespace {

constexpr size_t kMaxNames = 5000;

Cell cell_of(const hparams::Value& value) {
  switch (value.kind) {
    case hparams::Value::Kind::kNumber:
      return Cell::of(value.number);
    case hparams::Value::Kind::kString:
      return Cell::of(value.text);
    case hparams::Value::Kind::kBool:
      return Cell::of_bool(value.boolean);
    case hparams::Value::Kind::kNull:
    case hparams::Value::Kind::kOther:
      break;
  }
  return {};
}

std::string status_text(int32_t status) {
  static constexpr std::string_view kTexts[] = {"unknown", "success", "failure", "running"};
  return std::string(kTexts[status >= 0 && status < 4 ? status : 0]);
}

std::string_view parent(std::string_view run) {
  if (run == ".") return {};
  const size_t slash = run.rfind('/');
  return slash == run.npos ? std::string_view(".") : run.substr(0, slash);
}

// add_hparams of PyTorch and tensorboardX writes into a run of its own below the writer's, named by
// the time ("train/1700000000.12").
bool is_named_by_time(std::string_view run) {
  const size_t slash = run.rfind('/');
  const std::string_view last = slash == run.npos ? run : run.substr(slash + 1);
  const size_t dot = last.find('.');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return last.size() >= 10 && dot == 10 && digits(last.substr(0, dot)) &&
         digits(last.substr(dot + 1));
}

struct Values {
  std::string session;
  const hparams::Session* summary = nullptr;
  std::map<std::string, std::pair<Cell, ParamSource>> cells;

  void add(const std::string& name, Cell cell, ParamSource source) {
    cells.emplace(name, std::pair{std::move(cell), source});  // the first, most trusted one stays
  }
};

class Builder {
 public:
  Builder(const store::Snapshot& snapshot, const ParamIndex* earlier)
      : snapshot_(snapshot), earlier_(earlier) {
    auto records = hparams::collect(snapshot);
    if (records) records_ = std::move(*records);
    for (const auto& session : records_.sessions) summaries_.emplace(session.run, &session);
    fold_sessions_of_their_own();
  }

  ParamIndex build() {
    index_.session_of.assign(snapshot_.runs.size(), UINT32_MAX);
    std::unordered_map<std::string, uint32_t> sessions;
    for (size_t r = 0; r < snapshot_.runs.size(); ++r) {
      const Values values = values_of(*snapshot_.runs[r]);
      if (values.cells.empty() && !values.summary) continue;
      const auto [at, is_new] =
          sessions.emplace(values.session, static_cast<uint32_t>(index_.sessions.size()));
      if (is_new) add_session(values);
      index_.sessions[at->second].runs.push_back(r);
      index_.session_of[r] = at->second;
    }
    order_names();
    index_.declared = std::move(records_.experiment);
    return std::move(index_);
  }

 private:
  // The curves of such a session are in the run above it: the session is moved there, unless that run
  // is a session itself, has several of them, or does not exist.
  void fold_sessions_of_their_own() {
    std::unordered_map<std::string, size_t> below;
    for (const auto& session : records_.sessions) {
      if (is_named_by_time(session.run)) ++below[std::string(parent(session.run))];
    }
    for (const auto& session : records_.sessions) {
      const std::string above(parent(session.run));
      if (!is_named_by_time(session.run) || below[above] != 1 || summaries_.contains(above) ||
          !snapshot_.find(above))
        continue;
      summaries_.erase(session.run);
      summaries_.emplace(above, &session);
    }
  }

  const NamedCells& config_of(const std::string& name, const std::string& folder,
                              uint64_t revision) {
    const auto known = index_.configs.find(name);
    if (known != index_.configs.end()) return known->second.cells;
    if (earlier_) {
      const auto old = earlier_->configs.find(name);
      if (old != earlier_->configs.end() && old->second.revision == revision)
        return index_.configs.emplace(name, old->second).first->second.cells;
    }
    return index_.configs.emplace(name, ParamIndex::Config{revision, read_config(folder)})
        .first->second.cells;
  }

  Values values_of(const store::RunSnapshot& run) {
    Values values;
    for (std::string_view at = run.name; !at.empty(); at = parent(at)) {
      const auto found = summaries_.find(std::string(at));
      if (found == summaries_.end()) continue;
      values.summary = found->second;
      values.session = found->first;
      for (const auto& [name, value] : found->second->hparams)
        values.add(name, cell_of(value), ParamSource::kSummary);
      break;
    }
    // Folders above the run, up to the log directory itself, may hold its configuration.
    std::string folder = run.folder;
    std::string deepest;
    const bool nested = run.folder.ends_with("/" + run.name);  // else its name has another root
    for (std::string_view at = run.name; !at.empty();
         at = nested ? parent(at) : std::string_view()) {
      const NamedCells& config = config_of(std::string(at), folder, run.revision);
      if (!config.empty()) {
        deepest = at;
        for (const auto& [name, cell] : config) values.add(name, cell, ParamSource::kConfig);
        break;
      }
      folder = folder.substr(0, folder.rfind('/'));
    }
    const std::string_view named = named_part(run.name);
    for (const auto& [name, cell] : params_in_name(named))
      values.add(name, cell, ParamSource::kName);
    if (!values.summary)
      values.session = named.size() > deepest.size() ? std::string(named) : deepest;
    return values;
  }

  void add_session(const Values& values) {
    ParamSession session;
    session.name = values.session;
    session.group = values.session;
    if (values.summary) {
      session.group = values.summary->group;
      session.status = status_text(values.summary->status);
      session.start_s = values.summary->start_time_s;
      session.end_s = values.summary->end_time_s;
    }
    for (const auto& [name, cell] : values.cells) {
      const auto known = ids_.find(name);
      uint32_t id = 0;
      if (known != ids_.end()) {
        id = known->second;
      } else if (index_.names.size() < kMaxNames) {
        id = static_cast<uint32_t>(index_.names.size());
        ids_.emplace(name, id);
        index_.names.push_back({name, cell.second, false, {}, 0});
      } else {
        continue;
      }
      index_.names[id].source = std::min(index_.names[id].source, cell.second);
      session.params.push_back({id, cell.first, cell.second});
    }
    index_.sessions.push_back(std::move(session));
  }

  // Puts differing names first and renumbers the sessions' values.
  void order_names() {
    std::vector<std::vector<Cell>> values(index_.names.size());
    std::vector<size_t> having(index_.names.size());
    for (const auto& session : index_.sessions) {
      for (const Param& param : session.params) {
        values[param.name].push_back(param.value);
        ++having[param.name];
      }
    }
    for (size_t i = 0; i < values.size(); ++i) {
      auto& list = values[i];
      std::sort(list.begin(), list.end(),
                [](const Cell& a, const Cell& b) { return compare(a, b) < 0; });
      list.erase(std::unique(list.begin(), list.end(),
                             [](const Cell& a, const Cell& b) { return compare(a, b) == 0; }),
                 list.end());
      ParamName& name = index_.names[i];
      name.distinct = list.size();
      name.differs = list.size() > 1 || having[i] < index_.sessions.size();
      if (list.size() > ParamIndex::kMaxValues) list.resize(ParamIndex::kMaxValues);
      name.values = std::move(list);
    }
    std::vector<uint32_t> order(index_.names.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const ParamName &x = index_.names[a], &y = index_.names[b];
      if (x.differs != y.differs) return x.differs;
      return natural_compare(x.name, y.name) < 0;
    });
    std::vector<uint32_t> place(order.size());
    std::vector<ParamName> names;
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      names.push_back(std::move(index_.names[order[i]]));
    }
    index_.names = std::move(names);
    for (auto& session : index_.sessions) {
      for (Param& param : session.params) param.name = place[param.name];
      std::sort(session.params.begin(), session.params.end(),
                [](const Param& a, const Param& b) { return a.name < b.name; });
    }
  }

  const store::Snapshot& snapshot_;
  const ParamIndex* earlier_;
  hparams::Records records_;
  std::unordered_map<std::string, const hparams::Session*> summaries_;
  std::unordered_map<std::string, uint32_t> ids_;
  ParamIndex index_;
};

}  // namespace

std::string_view name_of(ParamSource source) {
  static constexpr std::string_view kNames[] = {"summary", "config", "name"};
  return kNames[static_cast<size_t>(source)];
}

const Cell* ParamSession::find(uint32_t name) const {
  const auto at = std::lower_bound(params.begin(), params.end(), name,
                                   [](const Param& param, uint32_t n) { return param.name < n; });
  return at != params.end() && at->name == name ? &at->value : nullptr;
}

uint32_t ParamIndex::find(std::string_view name) const {
  for (uint32_t i = 0; i < names.size(); ++i) {
    if (names[i].name == name) return i;
  }
  return UINT32_MAX;
}

ParamIndex index_params(const store::Snapshot& snapshot, const ParamIndex* earlier) {
  return Builder(snapshot, earlier).build();
}

}  // namespace sonde::query
