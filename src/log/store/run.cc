#include "log/store/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "log/store/run_index.h"

namespace sonde::store {
namespace {

using FileList = std::vector<std::shared_ptr<const FileSnapshot>>;

// A tag's part in one of the files.
struct Piece {
  uint32_t file;
  uint32_t part;  // index inside the file
};

struct Tag {
  std::shared_ptr<const Metadata> metadata;
  std::vector<Piece> pieces;
  // Took the tag for something else: wait until their file is read again.
  std::vector<Piece> others;
  std::shared_ptr<const Series> series;  // null: no piece fits
  bool is_new = false;                   // not the last picture's series
};

// What cuts: the same for all tags of the run.
struct Restarts {
  struct Start {
    uint32_t file;
    const SessionStart* start;
    bool earlier_files_only;
  };
  std::vector<Start> starts;
  std::vector<bool> file_restarts;  // this file continues from a checkpoint of the ones before
  uint32_t count = 0;
  bool purges = false;  // false: nothing is hidden
};

// The five rules of ARCHITECTURE.md, "Restarts".
Restarts find_restarts(const FileList& files) {
  Restarts restarts;
  restarts.purges = true;
  restarts.file_restarts.resize(files.size());
  bool any_start = false, any_summary = false;
  double latest = -std::numeric_limits<double>::infinity();
  Step last_step = std::numeric_limits<Step>::min();
  for (uint32_t f = 0; f < files.size(); ++f) {
    const FileFacts& facts = files[f]->facts;
    const uint32_t before = restarts.count;
    for (const SessionStart& start : files[f]->starts) {
      if (any_start) {
        restarts.starts.push_back({f, &start, false});
        ++restarts.count;
      } else if (any_summary && start.step <= last_step) {
        restarts.starts.push_back({f, &start, true});
        ++restarts.count;
      }
      any_start = true;
    }
    if (facts.has_summary) {
      if (any_summary && facts.first_summary_step <= last_step &&
          facts.first_summary_time > latest) {
        restarts.file_restarts[f] = true;
        if (restarts.count == before) ++restarts.count;
      }
      any_summary = true;
      last_step = std::max(last_step, facts.last_summary_step);
      latest = std::max(latest, facts.max_wall_time);
    }
  }
  return restarts;
}

Step first_step_of(const PartView& part) {
  if (!part.is_scalar) return part.references[0].step;
  part.keep->check(part.chunks.front());
  return part.chunks.front().steps()[0];
}

std::vector<Cut> cuts_of(const Tag& tag, const FileList& files, const Restarts& restarts) {
  if (!restarts.purges) return {};
  std::vector<Cut> cuts;
  const auto position_in = [&](const Restarts::Start& start) {
    uint64_t position = 0;
    for (const Piece& piece : tag.pieces) {
      if (piece.file < start.file) position += files[piece.file]->parts[piece.part]->size;
      if (piece.file == start.file && !start.earlier_files_only &&
          piece.part < start.start->sizes.size())
        position += start.start->sizes[piece.part];
    }
    return position;
  };
  for (const Restarts::Start& start : restarts.starts) {
    if (const uint64_t position = position_in(start); position > 0)
      cuts.push_back({position, start.start->step});
  }
  uint64_t offset = 0;
  for (const Piece& piece : tag.pieces) {
    const PartView& part = *files[piece.file]->parts[piece.part];
    if (restarts.file_restarts[piece.file] && offset > 0 && part.size > 0)
      cuts.push_back({offset, first_step_of(part)});
    for (const Cut& cut : part.cuts) cuts.push_back({offset + cut.position, cut.step});
    offset += part.size;
  }
  std::sort(cuts.begin(), cuts.end(),
            [](const Cut& a, const Cut& b) { return a.position < b.position; });
  return cuts;
}

bool same(const std::vector<Cut>& a, const std::vector<Cut>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Cut& x, const Cut& y) {
    return x.position == y.position && x.step == y.step;
  });
}

// Whether what a reader held of `before` is still the beginning of `now`.
bool is_continued(const PartSeries& before, const std::vector<std::shared_ptr<const PartView>>& now,
                  const std::vector<Cut>& cuts) {
  const auto& old = before.parts();
  if (old.size() > now.size() || !same(before.cuts(), cuts)) return false;
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i] == now[i]) continue;
    // Only the last part may have grown, and only by the same reading of the same file.
    if (i + 1 != old.size() || old[i]->keep != now[i]->keep) return false;
  }
  return true;
}

Step last_step_of(const Series& series) {
  if (series.size() == 0) return 0;
  const Range end{series.size() - 1, series.size()};
  if (!series.is_scalar()) return series.points(end).front().step;
  Step step = 0;
  series.blocks(end, [&](const ScalarBlock& block) { step = block.steps.back(); });
  return step;
}

// What the files say about the run as a whole: damage, sizes, times.
void add_file_facts(const FileList& files, RunSnapshot& run) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double earliest = kNever, latest = -kNever;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts;
    run.files.push_back(file->id);
    run.damage.insert(run.damage.end(), file->damage.begin(), file->damage.end());
    run.meta_graphs.insert(run.meta_graphs.end(), facts.meta_graphs.begin(),
                           facts.meta_graphs.end());
    if (!file->gone) run.bytes += file->size_bytes;
    if (facts.events > 0) {
      if (!run.has_events) run.first_wall_time = facts.first_wall_time;
      run.has_events = true;
    }
    earliest = std::min(earliest, facts.min_wall_time);
    latest = std::max(latest, facts.max_wall_time);
  }
  if (earliest > latest) return;
  run.min_wall_time = earliest;
  run.last_wall_time = latest;
}

struct TagTable {
  std::vector<Tag> tags;
  NameIndex by_tag;  // its keys lie in the files' columns
};

// All parts of each tag, in the order of the files; the first metadata of a tag wins.
TagTable collect_tags(const FileList& files) {
  TagTable table;
  if (!files.empty()) {
    table.tags.reserve(files.front()->parts.size());
    table.by_tag.reserve(files.front()->parts.size());
  }
  for (uint32_t f = 0; f < files.size(); ++f) {
    for (uint32_t p = 0; p < files[f]->parts.size(); ++p) {
      const PartView& part = *files[f]->parts[p];
      const auto next = static_cast<uint32_t>(table.tags.size());
      const auto [at, is_new] = table.by_tag.try_emplace(part.tag, next);
      if (is_new) table.tags.emplace_back();
      Tag& tag = table.tags[at->second];
      if (!tag.metadata) tag.metadata = part.metadata;
      tag.pieces.push_back({f, p});
    }
  }
  return table;
}

// The parts that are what the tag is; pieces that are not become the tag's `others`.
std::vector<std::shared_ptr<const PartView>> take_fitting_parts(Tag& tag, const FileList& files) {
  const bool is_scalar = tag.metadata && tag.metadata->data_class == DataClass::kScalar;
  std::vector<std::shared_ptr<const PartView>> parts;
  parts.reserve(tag.pieces.size());
  std::erase_if(tag.pieces, [&](const Piece& piece) {
    const auto& part = files[piece.file]->parts[piece.part];
    const bool fits = part->is_scalar == is_scalar;
    if (fits) {
      parts.push_back(part);
    } else {
      tag.others.push_back(piece);
    }
    return !fits;
  });
  return parts;
}

// Gives the tag its series: the last picture's when nothing changed, otherwise a new one.
void make_series(Tag& tag, const FileList& files, const Restarts& restarts, uint64_t revision,
                 const RunSnapshot* last) {
  auto parts = take_fitting_parts(tag, files);
  if (parts.empty()) return;
  std::vector<Cut> cuts = cuts_of(tag, files, restarts);
  const std::string_view name = parts.front()->tag;
  const auto* before = last ? static_cast<const PartSeries*>(last->find(name)) : nullptr;
  if (before && before->parts() == parts && same(before->cuts(), cuts)) {
    const auto& index = *static_cast<const NameIndex*>(last->index.get());
    tag.series = last->series[index.find(name)->second];
    return;
  }
  const uint64_t layout = !before                              ? 0
                          : is_continued(*before, parts, cuts) ? before->layout()
                                                               : before->layout() + 1;
  tag.series = std::make_shared<const PartSeries>(
      PartSeries::Making{std::move(parts), tag.metadata, std::move(cuts), revision, layout});
  tag.is_new = true;
}

// What each file has to be told about the tags it took for something else.
std::map<size_t, MetadataHints> find_conflicts(const std::vector<Tag>& tags,
                                               const FileList& files) {
  std::map<size_t, MetadataHints> by_file;
  for (const Tag& tag : tags) {
    for (const Piece& piece : tag.others) {
      by_file[piece.file].emplace(std::string(files[piece.file]->parts[piece.part]->tag),
                                  tag.metadata);
    }
  }
  return by_file;
}

// Moves the series into the run and notes the new ones.
void put_series(std::vector<Tag>& tags, RunSnapshot& run,
                std::vector<Change::SeriesChange>& changes) {
  run.series.reserve(tags.size());
  for (Tag& tag : tags) {
    if (!tag.series) continue;
    const Series& series = *tag.series;
    if (tag.is_new) changes.push_back({run.id, series.tag(), series.size(), last_step_of(series)});
    run.points += series.size() + series.strays().size();
    run.series.push_back(std::move(tag.series));
  }
}

}  // namespace

Run::Merged Run::merge(uint64_t revision, bool purge, const ParallelFor& help) {
  FileList committed;
  std::vector<std::shared_ptr<FileLoader>> loaders;
  for (const auto& [name, loader] : files) {
    committed.push_back(loader->committed());
    loaders.push_back(loader);
  }
  auto run = std::make_shared<RunSnapshot>();
  run->id = id_;
  run->name = name_;
  run->folder = folder_;
  run->revision = revision;
  run->first_wall_time = run->min_wall_time = run->last_wall_time =
      std::numeric_limits<double>::quiet_NaN();
  add_file_facts(committed, *run);

  // Without purging nothing cuts, not even what a file says about its own steps.
  const Restarts restarts = purge ? find_restarts(committed) : Restarts{};
  run->segments = 1 + restarts.count;

  TagTable table = collect_tags(committed);
  std::vector<Tag>& tags = table.tags;
  help.for_ranges(tags.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      make_series(tags[i], committed, restarts, revision, last_.get());
  });
  auto conflicts = find_conflicts(tags, committed);
  Merged merged;
  put_series(tags, *run, merged.changes);
  if (run->series.size() < tags.size() || !conflicts.empty()) {
    // Otherwise the tags' own index is right, and its keys lie in files that the series keep.
    table.by_tag.clear();
    for (uint32_t i = 0; i < run->series.size(); ++i)
      table.by_tag.emplace(run->series[i]->tag(), i);
  }
  run->index = std::make_shared<const NameIndex>(std::move(table.by_tag));

  for (auto& [file, seeds] : conflicts)
    merged.conflicts.push_back({loaders[file], std::move(seeds)});
  merged.damage_changed = (last_ ? last_->damage.size() : 0) != run->damage.size();
  last_ = run;
  merged.snapshot = std::move(run);
  return merged;
}

}  // namespace sonde::store
