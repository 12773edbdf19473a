#include "log/query/series/cache.h"

#include <bit>
#include <mutex>
#include <string>
#include <unordered_map>

namespace sonde::query {
namespace {

constexpr size_t kBudgetBytes = 192u << 20;  // a pyramid is about 2 % of its series
constexpr size_t kMaxTrails = 4;             // weights kept per series: a slider being dragged

// Proof that a kept entry belongs to the series at hand: where the view's points come from, and
// one point at each end.
struct Proof {
  uint64_t size = 0, layout = 0;
  std::vector<store::Range> ranges;
  Points ends;

  static Proof of(const ViewReader& reader, store::View view) {
    Proof proof{reader.size(), reader.series().layout(), {}, {}};
    const auto ranges = reader.series().ranges(view);
    proof.ranges.assign(ranges.begin(), ranges.end());
    proof.read_ends(reader);
    return proof;
  }
  void read_ends(const ViewReader& reader) {
    if (size == 0) return;
    reader.read(0, 1, ends);
    reader.read(size - 1, size, ends);
  }
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
         });
}

// True when the view at hand begins with exactly what `proof` saw.
bool continues(const Proof& proof, const ViewReader& reader, store::View view) {
  const auto ranges = reader.series().ranges(view);
  if (proof.layout != reader.series().layout()) return false;
  if (proof.size > reader.size() || proof.ranges.size() > ranges.size()) return false;
  for (size_t i = 0; i < proof.ranges.size(); ++i) {
    if (proof.ranges[i].begin != ranges[i].begin) return false;
    const bool last = i + 1 == proof.ranges.size();
    if (last ? proof.ranges[i].end > ranges[i].end : proof.ranges[i].end != ranges[i].end)
      return false;
  }
  Proof now{proof.size, 0, {}, {}};
  now.read_ends(reader);
  return now.ends.steps == proof.ends.steps && same_bits(now.ends.walls, proof.ends.walls) &&
         same_bits(now.ends.values, proof.ends.values);
}

struct Entry {
  Proof proof;
  std::shared_ptr<const Pyramid> pyramid;
  std::vector<std::shared_ptr<const EmaCheckpoints>>
      trails;  // newest last; may lag behind the pyramid
  uint64_t used = 0;

  size_t bytes() const {
    size_t sum = sizeof *this + (pyramid ? pyramid->bytes() : 0);
    for (const auto& trail : trails) sum += trail->bytes();
    return sum;
  }
};

struct PyramidCache {
  std::mutex mutex;  // guards: everything below
  std::unordered_map<std::string, Entry> entries;
  uint64_t tick = 0;

  void trim() {
    size_t sum = 0;
    for (const auto& [name, entry] : entries) sum += entry.bytes();
    while (sum > kBudgetBytes && entries.size() > 1) {
      auto oldest = entries.begin();
      for (auto it = entries.begin(); it != entries.end(); ++it) {
        if (it->second.used < oldest->second.used) oldest = it;
      }
      sum -= oldest->second.bytes();
      entries.erase(oldest);
    }
  }
};

PyramidCache& shelf() {
  static PyramidCache one;
  return one;
}

std::string name_of(const ViewReader& reader, const SeriesKey& key) {
  std::string name(sizeof(uint64_t) + sizeof(uint32_t) + 1, '\0');
  const auto run = static_cast<uint32_t>(key.run);
  std::memcpy(name.data(), &key.source, sizeof key.source);
  std::memcpy(name.data() + sizeof key.source, &run, sizeof run);
  name.back() = static_cast<char>(key.view);
  return name += reader.series().tag();
}

Entry looked_up(const std::string& name) {
  const std::lock_guard lock(shelf().mutex);
  const auto found = shelf().entries.find(name);
  if (found == shelf().entries.end()) return {};
  found->second.used = ++shelf().tick;
  return found->second;
}

}  // namespace

std::shared_ptr<const Pyramid> cached_pyramid(const ViewReader& reader, const SeriesKey& key,
                                              ThreadPool* pool) {
  const std::string name = name_of(reader, key);
  const Entry kept = looked_up(name);
  const bool fits = kept.pyramid && continues(kept.proof, reader, key.view);
  if (fits && kept.proof.size == reader.size()) return kept.pyramid;

  auto pyramid = build_pyramid(reader, fits ? kept.pyramid.get() : nullptr, pool);
  Proof proof = Proof::of(reader, key.view);
  const std::lock_guard lock(shelf().mutex);
  Entry& entry = shelf().entries[name];
  entry.proof = std::move(proof);
  entry.pyramid = pyramid;
  if (!fits) entry.trails.clear();
  entry.used = ++shelf().tick;
  shelf().trim();
  return pyramid;
}

std::shared_ptr<const EmaCheckpoints> cached_trail(const ViewReader& reader, const SeriesKey& key,
                                                   double weight) {
  // The pyramid was asked for first, so the entry is proved for this series or absent.
  const std::string name = name_of(reader, key);
  const Entry kept = looked_up(name);
  std::shared_ptr<const EmaCheckpoints> before;
  for (const auto& trail : kept.trails) {
    if (trail->weight == weight && trail->size <= reader.size()) before = trail;
  }
  if (before && before->size == reader.size()) return before;

  auto trail = std::make_shared<EmaCheckpoints>();
  trail->weight = weight;
  trail->size = reader.size();
  EmaState state;
  uint64_t begin = 0;
  if (before && before->size >= kChunk) {
    trail->at = before->at;
    begin = (before->at.size() - 1) * kChunk;  // the state before its last, part filled chunk
    state = before->at.back();
    trail->at.pop_back();
  }
  Points points;
  for (; begin < trail->size; begin += kChunk) {
    trail->at.push_back(state);
    points.clear();
    reader.read(begin, std::min(trail->size, begin + kChunk), points);
    for (const double value : points.values) state.next(value, weight);
  }
  const std::lock_guard lock(shelf().mutex);
  const auto found = shelf().entries.find(name);
  if (found == shelf().entries.end()) return trail;
  auto& trails = found->second.trails;
  std::erase_if(trails, [&](const auto& old) { return old->weight == weight; });
  if (trails.size() >= kMaxTrails) trails.erase(trails.begin());
  trails.push_back(trail);
  shelf().trim();
  return trail;
}

size_t cache_bytes() {
  const std::lock_guard lock(shelf().mutex);
  size_t sum = 0;
  for (const auto& [name, entry] : shelf().entries) sum += entry.bytes();
  return sum;
}

void drop_cache() {
  const std::lock_guard lock(shelf().mutex);
  shelf().entries.clear();
}

}  // namespace sonde::query
