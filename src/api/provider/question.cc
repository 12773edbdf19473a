#include "api/provider/question.h"

#include "codec/wire.h"
#include "log/query/media/samples.h"

namespace sonde::api::provider {
namespace {

using Names = std::set<std::string, std::less<>>;

bool read_names(Bytes message, Names& names) {
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1 && field.is_bytes()) names.emplace(field.text());
  }
  return cursor.ok();
}

bool read_filter(Bytes message, Question& question) {
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (!field.is_bytes() || field.number < 1 || field.number > 2) continue;
    auto& names = field.number == 1 ? question.runs : question.tags;
    if (!names) names.emplace();
    if (!read_names(field.bytes, *names)) return false;
  }
  return cursor.ok();
}

// The first member of a message that holds nothing else.
bool read_only_member(Bytes message, wire::Field& member) {
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1) member = field;
  }
  return cursor.ok();
}

}  // namespace

Result<Question> parse_question(Bytes message) {
  enum : uint32_t { kPluginFilter = 2, kRunTagFilter = 3, kDownsample = 4 };
  const auto malformed = [] { return fail(Code::kInvalid, "the request is malformed"); };
  Question question;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (!field.is_bytes()) continue;
    wire::Field member;
    switch (field.number) {
      case kPluginFilter:
        if (!read_only_member(field.bytes, member)) return malformed();
        question.plugin = member.text();
        break;
      case kRunTagFilter:
        if (!read_filter(field.bytes, question)) return malformed();
        break;
      case kDownsample:
        if (!read_only_member(field.bytes, member)) return malformed();
        if (member.as_int() < 0) {
          return fail(Code::kInvalid,
                      "num_points must not be negative, got " + std::to_string(member.as_int()));
        }
        question.points = member.bits == 0 ? query::kAllSamples : member.bits;
        break;
      default:
        break;
    }
  }
  if (!cursor.ok()) return malformed();
  return question;
}

}  // namespace sonde::api::provider
