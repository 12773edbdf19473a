// What a call of the data provider service asks for: one plug-in, some runs and tags, at most so
// many points.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "log/model/snapshot.h"

namespace sonde::api::provider {

struct Question {
  std::string plugin;
  std::optional<std::set<std::string, std::less<>>> runs, tags;  // nothing: all of them
  // Points of a series; TensorBoard asks for 0 when its user wrote --samples_per_plugin x=0, which
  // it documents as all.
  std::optional<uint64_t> points;

  bool wants_run(const store::RunSnapshot& run) const { return !runs || runs->contains(run.name); }
  bool wants(const store::Series& series, store::DataClass data_class) const {
    return series.metadata().data_class == data_class && series.metadata().plugin == plugin &&
           (!tags || tags->contains(series.tag()));
  }
};

// kInvalid when the message is malformed.
Result<Question> parse_question(Bytes message);

}  // namespace sonde::api::provider
