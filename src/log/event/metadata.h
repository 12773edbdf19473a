// What a series is: the plug-in, display name and data class that the first metadata of a tag
// gives. Old summary forms (simple_value, image, audio, histo, graph_def, tagged_run_metadata)
// carry no metadata; what they mean is filled in here, the way TensorBoard's migration does it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "log/event/value.h"

namespace sonde::event {

// How TensorBoard classes a series.
enum class DataClass : uint8_t { kUnknown = 0, kScalar = 1, kTensor = 2, kBlobSequence = 3 };

struct Metadata {
  std::string plugin;   // "scalars", "images", ...; empty when the writer gave none
  std::string content;  // plugin_data.content, raw bytes
  std::string display_name;
  std::string description;  // Markdown as written
  DataClass data_class = DataClass::kUnknown;
  bool from_v1 = false;  // made from an old summary form (or a graph or run metadata event)

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// The class that a plug-in's name implies when the writer did not state one; kUnknown for foreign
// plug-ins.
DataClass implied_class(std::string_view plugin);

// Reads a SummaryMetadata message; a malformed one keeps the fields before the fault.
Metadata parse_metadata(Bytes message);

// The metadata of a value after migration. Has an empty plugin and kUnknown when the value says
// nothing (a tensor without metadata): then an earlier or later value of the tag decides.
Metadata metadata_of(const ValueView& value);

}  // namespace sonde::event
