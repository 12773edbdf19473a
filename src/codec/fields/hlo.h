// Field numbers of xla.HloProto and of what it holds, those that are read (hlo.proto,
// xla_data.proto).
#pragma once

#include <cstdint>

namespace sonde::fields {

struct HloProto {
  enum : uint32_t {
    kModule = 1,
    kBufferAssignment = 3,
  };
};

struct HloModule {
  enum : uint32_t {
    kName = 1,
    kEntryName = 2,
    kComputations = 3,
    kEntryId = 6,
    kSchedule = 7,
    kStackFrameIndex = 17,
  };
};

struct HloComputation {
  enum : uint32_t {
    kName = 1,
    kInstructions = 2,
    kId = 5,
    kRootId = 6,
    kIsFusion = 7,
  };
};

struct HloInstruction {
  enum : uint32_t {
    kName = 1,
    kOpcode = 2,
    kShape = 3,
    kMetadata = 7,
    kLiteral = 8,
    kParameterNumber = 9,
    kFusionKind = 11,
    kTupleIndex = 13,
    kDimensions = 14,
    kWindow = 15,
    kConvolution = 16,
    kSliceDimensions = 17,
    kChannelId = 26,
    kCustomCallTarget = 28,
    kDot = 30,
    kId = 35,
    kOperands = 36,
    kControlPredecessors = 37,
    kCalledComputations = 38,
    kBackendConfig = 43,
    kFeatureGroups = 50,
    kConstrainsLayout = 56,
    kOperandShapesWithLayout = 57,
    kBatchGroups = 58,
    kComparisonDirection = 63,
    kHasSideEffect = 65,
    kFrontendAttributes = 68,
    kCustomCallApiVersion = 77,
  };
};

struct HloShape {
  enum : uint32_t {
    kElementType = 2,
    kDimensions = 3,
    kTuple = 4,
    kLayout = 5,
  };
};

struct HloLayout {
  enum : uint32_t {
    kMinorToMajor = 1,
    kTiles = 6,
    kElementBits = 7,
    kMemorySpace = 8,
  };
};

struct HloTile {
  enum : uint32_t {
    kDimensions = 1,
  };
};

struct OpMetadata {
  enum : uint32_t {
    kOpType = 1,
    kOpName = 2,
    kSourceFile = 3,
    kSourceLine = 4,
    kDeduplicatedName = 12,
    kStackFrame = 15,
    kSourceEndLine = 17,
    kSourceColumn = 18,
    kSourceEndColumn = 19,
  };
};

struct HloWindow {
  enum : uint32_t {
    kDimensions = 1,
  };
};

struct WindowDimension {
  enum : uint32_t {
    kSize = 1,
    kStride = 2,
    kPaddingLow = 3,
    kPaddingHigh = 4,
    kWindowDilation = 5,
    kBaseDilation = 6,
    kReversed = 7,
  };
};

struct ConvolutionDimensions {
  enum : uint32_t {
    kKernelInputFeature = 3,
    kKernelOutputFeature = 4,
    kKernelSpatial = 6,
    kInputBatch = 7,
    kInputFeature = 8,
    kOutputBatch = 9,
    kOutputFeature = 10,
    kInputSpatial = 11,
    kOutputSpatial = 12,
  };
};

struct DotDimensions {
  enum : uint32_t {
    kLhsContracting = 1,
    kRhsContracting = 2,
    kLhsBatch = 3,
    kRhsBatch = 4,
  };
};

struct SliceDimension {
  enum : uint32_t {
    kStart = 1,
    kLimit = 2,
    kStride = 3,
  };
};

struct StackFrameIndex {
  enum : uint32_t {
    kFileNames = 1,
    kFunctionNames = 2,
    kFileLocations = 3,
    kStackFrames = 4,
  };
};

struct FileLocation {
  enum : uint32_t {
    kFileName = 1,
    kFunctionName = 2,
    kLine = 3,
    kColumn = 4,
  };
};

struct StackFrame {
  enum : uint32_t {
    kFileLocation = 1,
    kParent = 2,
  };
};

struct HloSchedule {
  enum : uint32_t {
    kSequences = 1,
  };
};

struct InstructionSequence {
  enum : uint32_t {
    kIds = 1,
  };
};

}  // namespace sonde::fields
