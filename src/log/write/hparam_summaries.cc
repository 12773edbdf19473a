// Summaries about the run itself: hyperparameters, chart layouts, model graphs.
#include "codec/fields/hparams.h"
#include "codec/fields/map_entry.h"
#include "log/write/values.h"
#include "sonde/summary.h"

namespace sonde::summary {

using namespace sonde::writer;

namespace {

void put_hparam_value(wire::Encoder& out, const HParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    out.varint(fields::StructValue::kBool, *flag ? 1 : 0);
  } else if (const auto* number = std::get_if<double>(&value)) {
    out.real(fields::StructValue::kNumber, *number);
  } else {
    out.bytes(fields::StructValue::kText, std::get<std::string>(value));
  }
}

void put_text(wire::Encoder& out, uint32_t field, std::string_view text) {
  if (!text.empty()) out.bytes(field, text);
}

// All hparams data is metadata; the value is a float tensor without elements.
Summary hparams_value(std::string_view tag, uint32_t field, const std::string& message) {
  std::string content;
  wire::Encoder(content).bytes(field, message);
  return one_value(tag, [&](wire::Encoder& value) {
    put_tensor(value, {nullptr, DataType::kFloat32, {0}});
    put_metadata(value, {"hparams", content}, {});
  });
}

void put_hparam_info(wire::Encoder& out, const HParamInfo& info) {
  out.bytes(fields::HparamInfo::kName, info.name);
  put_text(out, fields::HparamInfo::kDisplayName, info.display_name);
  put_text(out, fields::HparamInfo::kDescription, info.description);
  if (info.kind != HParamInfo::Kind::kUnknown)
    out.varint(fields::HparamInfo::kType, static_cast<uint64_t>(info.kind));
  if (!info.values.empty()) {
    out.message(fields::HparamInfo::kDiscrete, [&](wire::Encoder& list) {
      for (const HParamValue& v : info.values)
        list.message(fields::ListValue::kValues,
                     [&](wire::Encoder& one) { put_hparam_value(one, v); });
    });
  } else if (info.interval) {
    out.message(fields::HparamInfo::kInterval, [&](wire::Encoder& interval) {
      interval.real(fields::Interval::kMin, info.interval->first);
      interval.real(fields::Interval::kMax, info.interval->second);
    });
  }
}

void put_metric_info(wire::Encoder& out, const MetricInfo& info) {
  out.message(fields::MetricInfo::kName, [&](wire::Encoder& name) {
    put_text(name, fields::MetricName::kGroup, info.group);
    put_text(name, fields::MetricName::kTag, info.tag);
  });
  put_text(out, fields::MetricInfo::kDisplayName, info.display_name);
  put_text(out, fields::MetricInfo::kDescription, info.description);
  if (info.dataset != MetricInfo::Dataset::kUnknown)
    out.varint(fields::MetricInfo::kDatasetType, static_cast<uint64_t>(info.dataset));
}

void put_chart(wire::Encoder& out, const Chart& chart) {
  put_text(out, 1, chart.title);
  if (!chart.margins.empty()) {
    out.message(3, [&](wire::Encoder& content) {
      for (const Chart::Margin& margin : chart.margins) {
        content.message(1, [&](wire::Encoder& series) {
          series.bytes(1, margin.value);
          series.bytes(2, margin.lower);
          series.bytes(3, margin.upper);
        });
      }
    });
    return;
  }
  out.message(2, [&](wire::Encoder& content) {
    for (const std::string& tag : chart.tags) content.bytes(1, tag);
  });
}

void put_attribute(wire::Encoder& node, std::string_view key, auto&& value) {
  node.message(5, [&](wire::Encoder& entry) {
    entry.bytes(1, key);
    entry.message(2, value);
  });
}

}  // namespace

Summary hparams_config(const HParamsConfig& config) {
  std::string message;
  wire::Encoder out(message);
  put_text(out, fields::HparamsExperiment::kDescription, config.description);
  put_text(out, fields::HparamsExperiment::kUser, config.user);
  if (config.created_secs != 0)
    out.real(fields::HparamsExperiment::kTimeCreated, config.created_secs);
  for (const HParamInfo& info : config.hparams)
    out.message(fields::HparamsExperiment::kHparamInfos,
                [&](wire::Encoder& one) { put_hparam_info(one, info); });
  for (const MetricInfo& info : config.metrics)
    out.message(fields::HparamsExperiment::kMetricInfos,
                [&](wire::Encoder& one) { put_metric_info(one, info); });
  return hparams_value("_hparams_/experiment", fields::HparamsData::kExperiment, message);
}

Summary session_start(const SessionStart& start) {
  std::string message;
  wire::Encoder out(message);
  for (const auto& [name, value] : start.hparams) {
    out.message(fields::SessionStart::kHparams, [&](wire::Encoder& entry) {
      entry.bytes(fields::MapEntry::kKey, name);
      entry.message(fields::MapEntry::kValue,
                    [&](wire::Encoder& one) { put_hparam_value(one, value); });
    });
  }
  put_text(out, fields::SessionStart::kModelUri, start.model_uri);
  put_text(out, fields::SessionStart::kMonitorUrl, start.monitor_url);
  put_text(out, fields::SessionStart::kGroupName, start.group_name);
  if (start.start_secs != 0) out.real(fields::SessionStart::kStartTime, start.start_secs);
  return hparams_value("_hparams_/session_start_info", fields::HparamsData::kSessionStart, message);
}

Summary session_end(SessionStatus status, double end_secs) {
  std::string message;
  wire::Encoder out(message);
  if (status != SessionStatus::kUnknown)
    out.varint(fields::SessionEnd::kStatus, static_cast<uint64_t>(status));
  if (end_secs != 0) out.real(fields::SessionEnd::kEndTime, end_secs);
  return hparams_value("_hparams_/session_end_info", fields::HparamsData::kSessionEnd, message);
}

Summary custom_scalars(std::span<const ChartCategory> layout) {
  std::string message;
  wire::Encoder out(message);
  for (const ChartCategory& category : layout) {
    out.message(2, [&](wire::Encoder& one) {
      put_text(one, 1, category.title);
      for (const Chart& chart : category.charts)
        one.message(2, [&](wire::Encoder& c) { put_chart(c, chart); });
      if (category.closed) one.varint(3, 1);
    });
  }
  return string_tensor("custom_scalars__config__", std::span(&message, 1), {},
                       {"custom_scalars", {}});
}

Summary keras_model(std::string_view json, std::string_view tag) {
  const std::string cell(json);
  return string_tensor(tag, std::span(&cell, 1), {}, {"graph_keras_model", "1"});
}

std::string graph_def(std::span<const GraphNode> nodes) {
  std::string message;
  wire::Encoder out(message);
  for (const GraphNode& node : nodes) {
    out.message(1, [&](wire::Encoder& def) {
      def.bytes(1, node.name);
      def.bytes(2, node.op);
      for (const std::string& input : node.inputs) def.bytes(3, input);
      put_text(def, 4, node.device);
      for (const auto& [key, text] : node.attributes)
        put_attribute(def, key, [&](wire::Encoder& value) { value.bytes(2, text); });
      if (node.output_shapes.empty()) return;
      put_attribute(def, "_output_shapes", [&](wire::Encoder& value) {
        value.message(1, [&](wire::Encoder& list) {
          for (const auto& shape : node.output_shapes) {
            list.message(7, [&](wire::Encoder& dims) {
              for (const int64_t d : shape)
                dims.message(2,
                             [&](wire::Encoder& dim) { dim.varint(1, static_cast<uint64_t>(d)); });
            });
          }
        });
      });
    });
  }
  out.message(4, [](wire::Encoder& versions) { versions.varint(1, 22); });
  return message;
}

}  // namespace sonde::summary
