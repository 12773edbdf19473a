#include "log/event/metadata.h"

#include <array>

#include "codec/fields/event.h"

namespace sonde::event {
namespace {

struct Known {
  std::string_view plugin;
  DataClass data_class;
};

constexpr std::array kKnown = {
    Known{"scalars", DataClass::kScalar},
    Known{"images", DataClass::kBlobSequence},
    Known{"audio", DataClass::kBlobSequence},
    Known{"histograms", DataClass::kTensor},
    Known{"text", DataClass::kTensor},
    Known{"pr_curves", DataClass::kTensor},
    Known{"mesh", DataClass::kTensor},
    Known{"custom_scalars", DataClass::kTensor},
    Known{"hparams", DataClass::kTensor},
    Known{"graphs", DataClass::kBlobSequence},
    Known{"graph_tagged_run_metadata", DataClass::kBlobSequence},
    Known{"graph_run_metadata", DataClass::kBlobSequence},
    Known{"graph_run_metadata_graph", DataClass::kBlobSequence},
    Known{"graph_keras_model", DataClass::kBlobSequence},
};

// What TensorBoard's migration gives an old form: plug-in, content, class.
struct Migrated {
  std::string_view plugin;
  std::string_view content;
};

Migrated migrated(ValueKind kind) {
  switch (kind) {
    case ValueKind::kSimple:
      return {"scalars", {}};
    case ValueKind::kImage:
      return {"images", "\x10\x01"};  // converted_to_tensor
    case ValueKind::kAudio:
      return {"audio", "\x10\x0b\x18\x01"};  // encoding WAV, converted_to_tensor
    case ValueKind::kHisto:
      return {"histograms", {}};
    case ValueKind::kGraphDef:
      return {"graphs", {}};
    case ValueKind::kTaggedRunMetadata:
      return {"graph_tagged_run_metadata", {}};
    default:
      return {};
  }
}

}  // namespace

DataClass implied_class(std::string_view plugin) {
  for (const Known& known : kKnown) {
    if (known.plugin == plugin) return known.data_class;
  }
  return DataClass::kUnknown;
}

Metadata parse_metadata(Bytes message) {
  Metadata metadata;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::SummaryMetadata::kDataClass && field.type == wire::Type::kVarint) {
      if (field.bits <= 3) metadata.data_class = static_cast<DataClass>(field.bits);
      continue;
    }
    if (!field.is_bytes()) continue;
    if (field.number == fields::SummaryMetadata::kPluginData) {
      wire::Cursor plugin(field.bytes);
      for (wire::Field inner; plugin.next(inner);) {
        if (!inner.is_bytes()) continue;
        if (inner.number == fields::PluginData::kName) metadata.plugin = inner.text();
        if (inner.number == fields::PluginData::kContent) metadata.content = inner.text();
      }
    } else if (field.number == fields::SummaryMetadata::kDisplayName) {
      metadata.display_name = field.text();
    } else if (field.number == fields::SummaryMetadata::kDescription) {
      metadata.description = field.text();
    }
  }
  if (metadata.data_class == DataClass::kUnknown)
    metadata.data_class = implied_class(metadata.plugin);
  return metadata;
}

Metadata metadata_of(const ValueView& value) {
  Metadata metadata;
  if (value.has_metadata) metadata = parse_metadata(value.metadata);
  const Migrated form = migrated(value.kind);
  if (form.plugin.empty()) return metadata;
  // The old form decides what the series is; only the texts for people survive.
  metadata.plugin = form.plugin;
  metadata.content = form.content;
  metadata.data_class = implied_class(form.plugin);
  metadata.from_v1 = true;
  if (metadata.display_name.empty() && value.kind < ValueKind::kGraphDef)
    metadata.display_name = value.tag;
  return metadata;
}

}  // namespace sonde::event
