// Every capture format Sonde reads, told apart by content and never by name alone. To add one: a
// folder in src/import with an `Importer`, and its line in registry.cc (order = sniff priority).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "capture/import/page_releaser.h"
#include "capture/trace/builder.h"

namespace sonde::imports {

struct Input {
  std::string_view name;       // file name, for hints and messages
  Bytes bytes;                 // the whole content, uncompressed; only valid during the call
  ThreadPool* pool = nullptr;  // may be null: one thread
  PartRead part_read = {};     // may be empty; from any thread
  // Called once the bytes are read and before the trace is put in order, which takes most memory.
  std::function<void()> bytes_done = {};
};

struct Importer {
  std::string_view id;     // becomes Trace::format()
  std::string_view title;  // for people
  // Whether the content looks like this format. `head` is the beginning, at least 64 kB of it when
  // the file is that long.
  bool (*sniff)(std::string_view name, Bytes head);
  // Fills the builder. Damage is reported there and what is readable kept; an error means nothing
  // could be used.
  Result<void> (*read)(const Input& input, trace::Builder& builder);
};

std::span<const Importer* const> importers();
// The importer whose sniff claims the content, or null.
const Importer* importer_for(std::string_view name, Bytes head);

// Sniffs and imports; kUnsupported when no importer claims the content.
Result<trace::Trace> import_trace(const Input& input);

}  // namespace sonde::imports
