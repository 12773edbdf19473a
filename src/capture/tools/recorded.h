// Results that old profilers stored beside, or instead of, a capture: one file a tool and host.
// They are shown as they were recorded, in the tables of the tool that computes the same today.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/report/report.h"

namespace sonde::capture {

struct RecordedFile {
  std::string tool;  // id of the tool it belongs to
  std::string host;
  std::string name;     // of the file
  std::string content;  // unpacked
};

// The first file of a tool (and host, unless empty or ALL_HOSTS), or null.
const RecordedFile* recorded_file(const std::vector<RecordedFile>& files, std::string_view tool,
                                  std::string_view host);
// Whether the result was stored as the JSON a page asks for, not as a message.
bool is_json(const RecordedFile& file);

// kNotFound when the files hold nothing of that tool (and host, unless empty), kCorrupt when what
// they hold cannot be read.
Result<Report> recorded_report(const std::vector<RecordedFile>& files, std::string_view tool,
                               std::string_view host);

}  // namespace sonde::capture
