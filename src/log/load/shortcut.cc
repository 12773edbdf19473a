#include "log/load/shortcut.h"

#include <algorithm>

#include "codec/wire.h"
#include "log/event/value.h"

namespace sonde::store {
namespace {

constexpr size_t kMaxLayouts = 1024;

// Where the one number of an event, and its tag, stand.
struct Found {
  size_t value_at = 0;
  size_t rounded_at = 0;  // of the float beside an exact double; 0: there is none
  uint8_t width = 0;      // 0: none, or not a form that can be short cut
  size_t tag_at = 0, tag_length = 0;
};

// Walks one message and calls fn(number, type, begin, end) with the place of each field's content.
template <class Fn>
bool each_field(Bytes payload, size_t begin, size_t end, Fn&& fn) {
  const std::byte* const base = payload.data();
  const std::byte* p = base + begin;
  const std::byte* const limit = base + end;
  while (p < limit) {
    uint64_t key, value;
    if (!(p = wire::read_varint(p, limit, key))) return false;
    const std::byte* from = p;
    switch (key & 7) {
      case 0:
        if (!(p = wire::read_varint(p, limit, value))) return false;
        break;
      case 1:
        p += 8;
        break;
      case 5:
        p += 4;
        break;
      case 2:
        if (!(p = wire::read_varint(p, limit, value)) || value > static_cast<uint64_t>(limit - p))
          return false;
        from = p;
        p += value;
        break;
      default:
        return false;
    }
    if (p > limit) return false;
    fn(static_cast<uint32_t>(key >> 3), static_cast<uint32_t>(key & 7),
       static_cast<size_t>(from - base), static_cast<size_t>(p - base));
  }
  return true;
}

Found find_in_tensor(Bytes payload, size_t begin, size_t end) {
  Found found;
  int candidates = 0;
  uint32_t field = 0;  // 4: bytes of any type, 5: floats, 6: doubles
  uint64_t dtype = 0;
  const bool ok =
      each_field(payload, begin, end, [&](uint32_t number, uint32_t type, size_t from, size_t to) {
        if (number == 1 && to - from == 1) dtype = static_cast<uint64_t>(payload[from]);
        if (number >= 4 && number <= 6) {
          ++candidates;
          field = number;
          found.value_at = from;
          found.width = static_cast<uint8_t>(std::min<size_t>(to - from, UINT8_MAX));
          const bool packed = type == 2;
          const bool alone = (number == 5 && type == 5) || (number == 6 && type == 1);
          if (!packed && !alone) candidates = 2;
        }
        // Other number fields would be other dtypes' values: not this form.
        if (number > 6 || number == 3) candidates = 2;
      });
  const uint8_t width = dtype == 1 ? 4 : dtype == 2 ? 8 : 0;
  const bool fits = field == 4 || (field == 5 && dtype == 1) || (field == 6 && dtype == 2);
  if (!ok || candidates != 1 || !fits || width == 0 || found.width != width) return {};
  return found;
}

Found find_value(Bytes payload, size_t begin, size_t end) {
  Found found;
  size_t tag_at = 0, tag_length = 0;
  int bodies = 0, tags = 0, exacts = 0;
  const bool ok =
      each_field(payload, begin, end, [&](uint32_t number, uint32_t type, size_t from, size_t to) {
        if (number == 1 && type == 2) {
          ++tags;
          tag_at = from;
          tag_length = to - from;
        } else if (number == 2 && type == 5) {
          ++bodies;
          (found.width == 8 ? found.rounded_at : found.value_at) = from;
          if (found.width != 8) found.width = 4;
        } else if (number == event::kExactValueField && type == 1) {
          if (++exacts > 1) return;
          found.rounded_at = found.value_at;
          found.value_at = from;
          found.width = 8;
        } else if (number == 8 && type == 2) {
          ++bodies;
          found = find_in_tensor(payload, from, to);
        } else if (number >= 2 && number <= 6) {
          bodies = 2;
        }
      });
  found.tag_at = tag_at;
  found.tag_length = tag_length;
  // An exact double belongs to one float; beside anything else it is not a form that can be short
  // cut.
  const bool paired = exacts == 0 || (exacts == 1 && found.rounded_at != 0);
  return ok && bodies == 1 && tags == 1 && paired ? found : Found{};
}

}  // namespace

void Shortcut::learn(Bytes payload, uint32_t part, const Chunk& chunk) {
  Entry& entry = make_entry(part);
  entry.length = 0;
  if (payload.size() < 20) return;
  const auto* const record = reinterpret_cast<const uint8_t*>(payload.data());
  const size_t after_step = rest_at(record);
  if (after_step == 0) return;
  if (payload.size() <= after_step || payload.size() - after_step > kMaxLength) return;
  Found found;
  int summaries = 0, values = 0;
  const bool ok = each_field(payload, after_step, payload.size(),
                             [&](uint32_t number, uint32_t type, size_t from, size_t to) {
                               if (number != 5 || type != 2) {
                                 summaries = 2;  // anything else changes what the event is
                                 return;
                               }
                               ++summaries;
                               const bool inner =
                                   each_field(payload, from, to,
                                              [&](uint32_t n, uint32_t t, size_t f, size_t e) {
                                                if (n != 1 || t != 2) return;
                                                ++values;
                                                found = find_value(payload, f, e);
                                              });
                               if (!inner) values = 2;
                             });
  if (!ok || summaries != 1 || values != 1 || found.width == 0) return;
  if (found.tag_length > kMaxTag) return;

  const uint8_t* const bytes = record + after_step;
  Layout form;
  form.length = static_cast<uint32_t>(payload.size() - after_step);
  form.value_at = static_cast<uint8_t>(found.value_at - after_step);
  form.width = found.width;
  form.tag_at = static_cast<uint8_t>(found.tag_at - after_step);
  form.tag_length = static_cast<uint8_t>(found.tag_length);
  std::memset(form.mask.data(), 0xff, form.length);
  std::memset(form.mask.data() + form.value_at, 0, form.width);
  if (found.rounded_at != 0) std::memset(form.mask.data() + found.rounded_at - after_step, 0, 4);
  std::memset(form.mask.data() + form.tag_at, 0, form.tag_length);
  for (size_t i = 0; i < form.length; ++i) form.pattern[i] = bytes[i] & form.mask[i];
  if (chunk.type != form.type()) return;
  const auto index =
      static_cast<uint32_t>(std::find(layouts_.begin(), layouts_.end(), form) - layouts_.begin());
  if (index == layouts_.size()) {
    if (layouts_.size() >= kMaxLayouts) return;
    layouts_.push_back(form);
  }
  entry.layout = static_cast<uint16_t>(index);
  entry.length = static_cast<uint16_t>(form.length);
  entry.hold(chunk);
  has_far_tags_ = has_far_tags_ || found.tag_length > kNearTag;
  std::memcpy(entry.tag.data(), bytes + form.tag_at, form.tag_length);
}

}  // namespace sonde::store
