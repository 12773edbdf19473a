#include "log/load/record_decoder.h"

#include <cmath>
#include <utility>

namespace sonde::store {
namespace {

using event::ValueKind;
using event::What;

constexpr size_t kMaxStartSizes = 4 << 20;  // numbers kept for all STARTs of a file

// Types that TensorBoard's reader refuses; Sonde reads them.
bool readable_by_tensorboard(event::DataType type) {
  return type != event::DataType::kBfloat16 && type != event::DataType::kUint32 &&
         type != event::DataType::kUint64 && type < event::DataType::kFloat8E5m2;
}

}  // namespace

RecordDecoder::RecordDecoder(FileId file, std::shared_ptr<Memory> memory,
                             const MetadataHints& seeds, Use use)
    : file_(file),
      seeds_(seeds),
      use_(use),
      columns_(std::make_shared<FileColumns>(std::move(memory))),
      bump_(columns_->memory()) {}

void RecordDecoder::settle(uint32_t part) {
  if (part >= shortcut_.size()) return;
  Shortcut::Entry& entry = shortcut_.entries()[part];
  if (!entry.columns) return;
  parts_[part].chunks.back().size = entry.size;
  entry.columns = nullptr;
}

void RecordDecoder::settle() {
  Shortcut::Entry* const entries = shortcut_.entries();
  for (size_t i = 0; i < shortcut_.size(); ++i) {
    if (entries[i].columns) parts_[i].chunks.back().size = entries[i].size;
  }
}

void RecordDecoder::rest() {
  settle();
  bump_.release();
  shortcut_.forget();
  last_part_ = Shortcut::kNone;
}

void RecordDecoder::note_event(double wall_time, Step step, What what) {
  legacy_cut_ = false;
  if (what == What::kNothing && wall_time == 0) return;  // an empty record says nothing
  if (facts_.events++ == 0) facts_.first_wall_time = wall_time;
  if (std::isfinite(wall_time)) {
    facts_.min_wall_time = std::min(facts_.min_wall_time, wall_time);
    facts_.max_wall_time = std::max(facts_.max_wall_time, wall_time);
  }
  if (what != What::kSummary) return;
  if (!facts_.has_summary) {
    facts_.has_summary = true;
    facts_.first_summary_time = wall_time;
    facts_.first_summary_step = step;
  } else {
    legacy_cut_ = facts_.version < 2 && step < facts_.last_summary_step;
  }
  facts_.last_summary_step = step;
}

bool RecordDecoder::add(Bytes payload, uint64_t offset) {
  const auto event = event::parse_event(payload);
  if (!event) return false;
  const Place place{event->wall_time, event->step, offset, payload.size()};
  if (event->what == What::kSummary) {
    // Looked through before anything is taken: an event is used whole or not at all.
    bool intact = true;
    event::ValueView value;
    const bool walked = event::for_each_value(
        payload, [&](Bytes message) { return intact = event::parse_value(message, value); });
    if (!walked || !intact) return false;
  }
  ++facts_.records;
  note_event(event->wall_time, event->step, event->what);
  if (use_ == Use::kCountOnly) return true;
  switch (event->what) {
    case What::kSummary: {
      uint32_t index = 0;
      event::for_each_value(payload, [&](Bytes message) {
        event::ValueView value;
        event::parse_value(message, value);
        add_value(value, place, index++, false);
        return true;
      });
      break;
    }
    case What::kFileVersion:
      facts_.has_version = true;
      facts_.version = event::file_version(as_text(event->body));
      break;
    case What::kSessionLog:
      if (event::session_status(event->body) == event::SessionStatus::kStart)
        add_start(event->step);
      break;
    case What::kGraphDef:
    case What::kTaggedRunMetadata:
      if (const auto value = event::find_value(payload, 0)) add_value(*value, place, 0, false);
      break;
    case What::kMetaGraphDef:
      facts_.meta_graphs.push_back(reference(place, 0));
      break;
    default:
      break;
  }
  return true;
}

void RecordDecoder::add_all(Bytes window, uint64_t base, std::span<const record::Frame> frames,
                            const std::function<void(const record::Frame&)>& bad) {
  // Files of an old version have rules about steps that the short cut does not know.
  for (size_t i = 0; i < frames.size();) {
    if (use_ == Use::kEverything && facts_.version >= 2) i += add_alike(window, frames.subspan(i));
    if (i == frames.size()) return;
    const record::Frame& frame = frames[i++];
    const Bytes payload = window.subspan(frame.at, frame.length);
    number_part_ = Shortcut::kNone;
    if (!add(payload, base + frame.at)) bad(frame);
    if (number_part_ == Shortcut::kNone) continue;
    shortcut_.learn(payload, number_part_, parts_[number_part_].chunks.back());
    if (last_part_ != Shortcut::kNone) shortcut_.follows(last_part_, number_part_);
    last_part_ = number_part_;
  }
}

// Takes the frames that look like the record expected next, up to the first that does not; returns
// how many.
size_t RecordDecoder::add_alike(Bytes window, std::span<const record::Frame> frames) {
  if (last_part_ >= shortcut_.size()) return 0;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(window.data());
  Shortcut::Entry* const entries = shortcut_.entries();
  const uint32_t* const next = shortcut_.next();
  uint32_t last = last_part_;
  Ahead ahead(shortcut_, last);
  double earliest = facts_.min_wall_time, latest = facts_.max_wall_time;
  Step step = facts_.last_summary_step;
  size_t taken = 0;
  for (; taken < frames.size(); ++taken) {
    const record::Frame frame = frames[taken];
    const uint32_t guess = next[last];
    if (guess == Shortcut::kNone) break;
    ahead.move();
    Shortcut::Entry& entry = entries[guess];
    const uint8_t* const record = bytes + frame.at;
    const size_t rest_at = Shortcut::rest_at(record);
    const uint8_t* const rest = record + rest_at;
    if (entry.length == 0 || rest_at == 0 || entry.length + rest_at != frame.length) break;
    const Shortcut::Layout& layout = shortcut_.layout(entry);
    if (!Shortcut::matches(entry, layout, rest)) break;
    double wall_time;
    std::memcpy(&wall_time, record + 1, 8);
    if (!std::isfinite(wall_time)) break;  // counted with care elsewhere
    if (!entry.columns || entry.size == entry.capacity) {
      settle(guess);
      entry.hold(parts_[guess].room(*columns_, bump_, layout.type()));
    }
    const Chunk chunk = entry.chunk();
    step = Shortcut::step_of(record, rest_at);
    chunk.steps()[chunk.size] = step;
    chunk.wall_times()[chunk.size] = wall_time;
    if (layout.width == 4)
      std::memcpy(chunk.values() + size_t{4} * chunk.size, rest + layout.value_at, 4);
    else
      std::memcpy(chunk.values() + size_t{8} * chunk.size, rest + layout.value_at, 8);
    ++entry.size;
    earliest = wall_time < earliest ? wall_time : earliest;
    latest = wall_time > latest ? wall_time : latest;
    last = guess;
  }
  last_part_ = last;
  facts_.min_wall_time = earliest;
  facts_.max_wall_time = latest;
  facts_.last_summary_step = step;
  facts_.records += taken;
  facts_.events += taken;
  points_ += taken;
  return taken;
}

void RecordDecoder::add(const event::Outline& outline, uint64_t offset, uint64_t length) {
  ++facts_.records;
  note_event(outline.wall_time, outline.step, outline.what);
  if (use_ == Use::kCountOnly) return;
  const Place place{outline.wall_time, outline.step, offset, length};
  if (outline.what == What::kMetaGraphDef) facts_.meta_graphs.push_back(reference(place, 0));
  for (const event::Outline::Value& value : outline.values) {
    event::ValueView view;
    view.tag = value.tag;
    view.kind = value.kind;
    view.simple = value.simple;
    view.metadata = as_bytes(value.metadata);
    view.has_metadata = value.has_metadata;
    add_value(view, place, value.index, true);
  }
}

void RecordDecoder::add_start(Step step) {
  // A later START at the same or an earlier step hides everything an earlier one hid. The first of
  // a file stays: whether it cuts depends on the files before it.
  while (starts_.size() > 1 && starts_.back().step >= step) starts_.pop_back();
  if ((starts_.size() + 1) * (parts_.size() + 1) > kMaxStartSizes && starts_.size() > 1)
    starts_.erase(starts_.begin() + 1);
  SessionStart start{step, {}};
  settle();
  start.sizes.reserve(parts_.size());
  for (const Part& part : parts_) start.sizes.push_back(part.size());
  starts_.push_back(std::move(start));
}

// The index of the value's part, which it may be the first of; kNone when it is no point.
uint32_t RecordDecoder::part_for(const event::ValueView& value) {
  if (const auto found = by_tag_.find(value.tag); found != by_tag_.end()) return found->second;
  std::shared_ptr<const Metadata> metadata;
  if (const auto seed = seeds_.find(value.tag); seed != seeds_.end()) metadata = seed->second;
  const bool speaks = value.has_metadata || event::metadata_of(value).from_v1;
  // A value without a body is a point only for hparams, whose content is its metadata.
  if (value.kind == ValueKind::kOldHistogram) return Shortcut::kNone;
  if (!metadata && speaks) {
    Metadata own = event::metadata_of(value);
    if (value.kind == ValueKind::kNone && own.plugin != "hparams") return Shortcut::kNone;
    for (const auto& kept : metadata_) {
      if (*kept == own) metadata = kept;
    }
    if (!metadata) {
      metadata = std::make_shared<const Metadata>(std::move(own));
      if (metadata_.size() < 64) metadata_.push_back(metadata);
    }
  } else if (value.kind == ValueKind::kNone && (!metadata || metadata->plugin != "hparams")) {
    return Shortcut::kNone;
  }
  Part& part = parts_.emplace_back();
  part.tag = columns_->keep_tag(value.tag);
  part.metadata = std::move(metadata);
  part.is_scalar = part.metadata && part.metadata->data_class == DataClass::kScalar;
  const auto index = static_cast<uint32_t>(parts_.size() - 1);
  by_tag_.emplace(part.tag, index);
  return index;
}

// The first metadata came after the first values: it decides, and if it says "scalar" the earlier
// values, taken as references, have to be read again.
void RecordDecoder::learn(Part& part, const event::ValueView& value) {
  Metadata own = event::metadata_of(value);
  if (!value.has_metadata && !own.from_v1) return;
  part.metadata = std::make_shared<const Metadata>(std::move(own));
  if (part.metadata->data_class == DataClass::kScalar)
    late_.emplace(std::string(part.tag), part.metadata);
}

void RecordDecoder::add_value(const event::ValueView& value, const Place& place, uint32_t index,
                              bool outline) {
  const uint32_t index_of_part = part_for(value);
  if (index_of_part == Shortcut::kNone) {
    ++skipped_values_;
    return;
  }
  settle(index_of_part);
  Part& part = parts_[index_of_part];
  if (!part.metadata) learn(part, value);
  if (value.kind == ValueKind::kOldHistogram) {
    ++skipped_values_;
    return;
  }
  ++points_;
  if (legacy_cut_) {
    while (!part.cuts.empty() && part.cuts.back().step >= place.step) part.cuts.pop_back();
    part.cuts.push_back({part.size(), place.step});
  }
  if (!part.is_scalar) {
    part.references.push(reference(place, index));
  } else if (add_number(part, value, place, outline)) {
    number_part_ = index_of_part;
  } else {
    part.strays.push_back({reference(place, index), part.numbers()});
  }
}

// False when the value is no number.
bool RecordDecoder::add_number(Part& part, const event::ValueView& value, const Place& place,
                               bool outline) {
  if (value.kind == ValueKind::kSimple) {
    event::Number number;
    number.f32 = value.simple;
    if (value.has_exact) {
      number.type = event::NumberType::kFloat64;
      number.f64 = value.exact;
    }
    part.append(*columns_, bump_, place.step, place.wall_time, number);
    return true;
  }
  if (value.kind != ValueKind::kTensor || outline) return false;
  const auto tensor = event::parse_tensor(value.body);
  if (!tensor) return false;
  const auto scalar = event::decode_scalar(*tensor);
  if (!scalar) return false;
  if (!readable_by_tensorboard(tensor->dtype)) ++part.unreadable;
  part.append(*columns_, bump_, place.step, place.wall_time, *scalar);
  return true;
}

BlobPoint RecordDecoder::reference(const Place& place, uint32_t index) const {
  BlobPoint point;
  point.step = place.step;
  point.wall_time = place.wall_time;
  point.where.offset = place.offset;
  point.where.length = place.length;
  point.where.file = file_;
  point.where.value = index;
  return point;
}

}  // namespace sonde::store
