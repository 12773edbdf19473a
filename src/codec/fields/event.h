// Field numbers of tensorflow.Event and of what it holds (event.proto, summary.proto,
// histogram.proto). Plain enumerators in a struct: they compare with wire::Field::number.
#pragma once

#include <cstdint>

namespace sonde::fields {

struct Event {
  enum : uint32_t {
    kWallTime = 1,
    kStep = 2,
    kFileVersion = 3,
    kGraphDef = 4,
    kSummary = 5,
    kLogMessage = 6,
    kSessionLog = 7,
    kTaggedRunMetadata = 8,
    kMetaGraphDef = 9,
    kSourceMetadata = 10,
  };
};

struct SourceMetadata {
  enum : uint32_t {
    kWriter = 1,
  };
};

struct SessionLog {
  enum : uint32_t {
    kStatus = 1,
    kCheckpointPath = 2,
    kMessage = 3,
  };
};

struct TaggedRunMetadata {
  enum : uint32_t {
    kTag = 1,
    kRunMetadata = 2,
  };
};

struct Summary {
  enum : uint32_t {
    kValue = 1,
  };
};

// Summary.Value; the last one is ours, other readers skip it.
struct SummaryValue {
  enum : uint32_t {
    kTag = 1,
    kSimpleValue = 2,
    kOldHistogram = 3,
    kImage = 4,
    kHistogram = 5,
    kAudio = 6,
    kNodeName = 7,
    kTensor = 8,
    kMetadata = 9,
    kExactValue = 1000,
  };
};

// The last one is ours: how many values of a histogram were not finite.
struct SummaryMetadata {
  enum : uint32_t {
    kPluginData = 1,
    kDisplayName = 2,
    kDescription = 3,
    kDataClass = 4,
    kOddValues = 1001,
  };
};

struct PluginData {
  enum : uint32_t {
    kName = 1,
    kContent = 2,
  };
};

// Summary.Image
struct Image {
  enum : uint32_t {
    kHeight = 1,
    kWidth = 2,
    kColorspace = 3,
    kEncodedImage = 4,
  };
};

// Summary.Audio
struct Audio {
  enum : uint32_t {
    kSampleRate = 1,
    kChannels = 2,
    kLengthFrames = 3,
    kEncodedAudio = 4,
    kContentType = 5,
  };
};

// HistogramProto
struct Histogram {
  enum : uint32_t {
    kMin = 1,
    kMax = 2,
    kCount = 3,
    kSum = 4,
    kSumOfSquares = 5,
    kBucketLimits = 6,
    kBuckets = 7,
  };
};

}  // namespace sonde::fields
