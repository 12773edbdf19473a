// Field numbers of tensorboard.hparams.HParamsPluginData and of what it holds (plugin_data.proto,
// api.proto), and of the google.protobuf values in it (struct.proto).
#pragma once

#include <cstdint>

namespace sonde::fields {

struct HparamsData {
  enum : uint32_t {
    kVersion = 1,
    kExperiment = 2,
    kSessionStart = 3,
    kSessionEnd = 4,
  };
};

struct HparamsExperiment {
  enum : uint32_t {
    kDescription = 1,
    kUser = 2,
    kTimeCreated = 3,
    kHparamInfos = 4,
    kMetricInfos = 5,
    kName = 6,
  };
};

struct HparamInfo {
  enum : uint32_t {
    kName = 1,
    kDisplayName = 2,
    kDescription = 3,
    kType = 4,
    kDiscrete = 5,
    kInterval = 6,
    kDiffers = 7,
  };
};

struct Interval {
  enum : uint32_t {
    kMin = 1,
    kMax = 2,
  };
};

struct MetricInfo {
  enum : uint32_t {
    kName = 1,
    kDisplayName = 3,
    kDescription = 4,
    kDatasetType = 5,
  };
};

struct MetricName {
  enum : uint32_t {
    kGroup = 1,
    kTag = 2,
  };
};

// SessionStartInfo
struct SessionStart {
  enum : uint32_t {
    kHparams = 1,
    kModelUri = 2,
    kMonitorUrl = 3,
    kGroupName = 4,
    kStartTime = 5,
  };
};

// SessionEndInfo
struct SessionEnd {
  enum : uint32_t {
    kStatus = 1,
    kEndTime = 2,
  };
};

// google.protobuf.Value
struct StructValue {
  enum : uint32_t {
    kNull = 1,
    kNumber = 2,
    kText = 3,
    kBool = 4,
    kStruct = 5,
    kList = 6,
  };
};

struct ListValue {
  enum : uint32_t {
    kValues = 1,
  };
};

}  // namespace sonde::fields
