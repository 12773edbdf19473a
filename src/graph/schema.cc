// Field tables of the messages inside GraphDef and RunMetadata (TensorFlow's graph.proto,
// node_def.proto, attr_value.proto, tensor.proto, function.proto, op_def.proto, config.proto,
// step_stats.proto, cost_graph.proto), messages in the order in which they are first mentioned.
#include "graph/pbtxt.h"

namespace sonde::graph {
namespace {

using enum FieldKind;
using enum Presence;

extern const MessageSchema kNodeDef;
extern const MessageSchema kNodeDefAttrEntry;
extern const MessageSchema kAttrValue;
extern const MessageSchema kTensorShapeProto;
extern const MessageSchema kTensorShapeProtoDim;
extern const MessageSchema kTensorProto;
extern const MessageSchema kResourceHandleProto;
extern const MessageSchema kResourceHandleProtoDtypeAndShape;
extern const MessageSchema kVariantTensorDataProto;
extern const MessageSchema kAttrValueListValue;
extern const MessageSchema kNameAttrList;
extern const MessageSchema kNameAttrListAttrEntry;
extern const MessageSchema kNodeDefExperimentalDebugInfo;
extern const MessageSchema kFullTypeDef;
extern const MessageSchema kVersionDef;
extern const MessageSchema kFunctionDefLibrary;
extern const MessageSchema kFunctionDef;
extern const MessageSchema kOpDef;
extern const MessageSchema kOpDefArgDef;
extern const MessageSchema kOpDefAttrDef;
extern const MessageSchema kOpDeprecation;
extern const MessageSchema kFunctionDefAttrEntry;
extern const MessageSchema kFunctionDefArgAttrEntry;
extern const MessageSchema kFunctionDefArgAttrs;
extern const MessageSchema kFunctionDefArgAttrsAttrEntry;
extern const MessageSchema kFunctionDefResourceArgUniqueIdEntry;
extern const MessageSchema kFunctionDefRetEntry;
extern const MessageSchema kFunctionDefControlRetEntry;
extern const MessageSchema kGradientDef;
extern const MessageSchema kRegisteredGradient;
extern const MessageSchema kGraphDebugInfo;
extern const MessageSchema kGraphDebugInfoFramesByIdEntry;
extern const MessageSchema kGraphDebugInfoFileLineCol;
extern const MessageSchema kGraphDebugInfoTracesByIdEntry;
extern const MessageSchema kGraphDebugInfoStackTrace;
extern const MessageSchema kGraphDebugInfoTracesEntry;
extern const MessageSchema kGraphDebugInfoNameToTraceIdEntry;
extern const MessageSchema kDeviceStepStats;
extern const MessageSchema kNodeExecStats;
extern const MessageSchema kAllocatorMemoryUsed;
extern const MessageSchema kAllocationRecord;
extern const MessageSchema kNodeOutput;
extern const MessageSchema kAllocationDescription;
extern const MessageSchema kMemoryStats;
extern const MessageSchema kDeviceStepStatsThreadNamesEntry;
extern const MessageSchema kCostGraphDef;
extern const MessageSchema kCostGraphDefNode;
extern const MessageSchema kCostGraphDefNodeInputInfo;
extern const MessageSchema kCostGraphDefNodeOutputInfo;
extern const MessageSchema kCostGraphDefAggregatedCost;
extern const MessageSchema kRunMetadataFunctionGraphs;
extern const MessageSchema kSessionMetadata;

constexpr EnumName kDataTypeNames[] = {{0, "DT_INVALID"},
                                       {1, "DT_FLOAT"},
                                       {2, "DT_DOUBLE"},
                                       {3, "DT_INT32"},
                                       {4, "DT_UINT8"},
                                       {5, "DT_INT16"},
                                       {6, "DT_INT8"},
                                       {7, "DT_STRING"},
                                       {8, "DT_COMPLEX64"},
                                       {9, "DT_INT64"},
                                       {10, "DT_BOOL"},
                                       {11, "DT_QINT8"},
                                       {12, "DT_QUINT8"},
                                       {13, "DT_QINT32"},
                                       {14, "DT_BFLOAT16"},
                                       {15, "DT_QINT16"},
                                       {16, "DT_QUINT16"},
                                       {17, "DT_UINT16"},
                                       {18, "DT_COMPLEX128"},
                                       {19, "DT_HALF"},
                                       {20, "DT_RESOURCE"},
                                       {21, "DT_VARIANT"},
                                       {22, "DT_UINT32"},
                                       {23, "DT_UINT64"},
                                       {24, "DT_FLOAT8_E5M2"},
                                       {25, "DT_FLOAT8_E4M3FN"},
                                       {26, "DT_FLOAT8_E4M3FNUZ"},
                                       {27, "DT_FLOAT8_E4M3B11FNUZ"},
                                       {28, "DT_FLOAT8_E5M2FNUZ"},
                                       {29, "DT_INT4"},
                                       {30, "DT_UINT4"},
                                       {31, "DT_INT2"},
                                       {32, "DT_UINT2"},
                                       {33, "DT_FLOAT4_E2M1FN"},
                                       {101, "DT_FLOAT_REF"},
                                       {102, "DT_DOUBLE_REF"},
                                       {103, "DT_INT32_REF"},
                                       {104, "DT_UINT8_REF"},
                                       {105, "DT_INT16_REF"},
                                       {106, "DT_INT8_REF"},
                                       {107, "DT_STRING_REF"},
                                       {108, "DT_COMPLEX64_REF"},
                                       {109, "DT_INT64_REF"},
                                       {110, "DT_BOOL_REF"},
                                       {111, "DT_QINT8_REF"},
                                       {112, "DT_QUINT8_REF"},
                                       {113, "DT_QINT32_REF"},
                                       {114, "DT_BFLOAT16_REF"},
                                       {115, "DT_QINT16_REF"},
                                       {116, "DT_QUINT16_REF"},
                                       {117, "DT_UINT16_REF"},
                                       {118, "DT_COMPLEX128_REF"},
                                       {119, "DT_HALF_REF"},
                                       {120, "DT_RESOURCE_REF"},
                                       {121, "DT_VARIANT_REF"},
                                       {122, "DT_UINT32_REF"},
                                       {123, "DT_UINT64_REF"},
                                       {124, "DT_FLOAT8_E5M2_REF"},
                                       {125, "DT_FLOAT8_E4M3FN_REF"},
                                       {126, "DT_FLOAT8_E4M3FNUZ_REF"},
                                       {127, "DT_FLOAT8_E4M3B11FNUZ_REF"},
                                       {128, "DT_FLOAT8_E5M2FNUZ_REF"},
                                       {129, "DT_INT4_REF"},
                                       {130, "DT_UINT4_REF"},
                                       {131, "DT_INT2_REF"},
                                       {132, "DT_UINT2_REF"},
                                       {133, "DT_FLOAT4_E2M1FN_REF"}};
constexpr EnumName kFullTypeIdNames[] = {{0, "TFT_UNSET"},
                                         {1, "TFT_VAR"},
                                         {2, "TFT_ANY"},
                                         {3, "TFT_PRODUCT"},
                                         {4, "TFT_NAMED"},
                                         {20, "TFT_FOR_EACH"},
                                         {100, "TFT_CALLABLE"},
                                         {1000, "TFT_TENSOR"},
                                         {1001, "TFT_ARRAY"},
                                         {1002, "TFT_OPTIONAL"},
                                         {1003, "TFT_LITERAL"},
                                         {1004, "TFT_ENCODED"},
                                         {1005, "TFT_SHAPE_TENSOR"},
                                         {200, "TFT_BOOL"},
                                         {201, "TFT_UINT8"},
                                         {202, "TFT_UINT16"},
                                         {203, "TFT_UINT32"},
                                         {204, "TFT_UINT64"},
                                         {205, "TFT_INT8"},
                                         {206, "TFT_INT16"},
                                         {207, "TFT_INT32"},
                                         {208, "TFT_INT64"},
                                         {209, "TFT_HALF"},
                                         {210, "TFT_FLOAT"},
                                         {211, "TFT_DOUBLE"},
                                         {215, "TFT_BFLOAT16"},
                                         {212, "TFT_COMPLEX64"},
                                         {213, "TFT_COMPLEX128"},
                                         {214, "TFT_STRING"},
                                         {10102, "TFT_DATASET"},
                                         {10103, "TFT_RAGGED"},
                                         {10104, "TFT_ITERATOR"},
                                         {10202, "TFT_MUTEX_LOCK"},
                                         {10203, "TFT_LEGACY_VARIANT"}};

constexpr FieldSchema kGraphDefFields[] = {
    {1, "node", kMessage, kRepeated, &kNodeDef},
    {2, "library", kMessage, kImplicit, &kFunctionDefLibrary},
    {3, "version", kInt32, kImplicit},
    {4, "versions", kMessage, kImplicit, &kVersionDef},
    {5, "debug_info", kMessage, kImplicit, &kGraphDebugInfo}};
constexpr FieldSchema kNodeDefFields[] = {
    {1, "name", kString, kImplicit},
    {2, "op", kString, kImplicit},
    {3, "input", kString, kRepeated},
    {4, "device", kString, kImplicit},
    {5, "attr", kMessage, kMap, &kNodeDefAttrEntry},
    {6, "experimental_debug_info", kMessage, kImplicit, &kNodeDefExperimentalDebugInfo},
    {7, "experimental_type", kMessage, kImplicit, &kFullTypeDef}};
constexpr FieldSchema kNodeDefAttrEntryFields[] = {{1, "key", kString, kImplicit},
                                                   {2, "value", kMessage, kImplicit, &kAttrValue}};
constexpr FieldSchema kAttrValueFields[] = {{1, "list", kMessage, kOneof, &kAttrValueListValue},
                                            {2, "s", kBytes, kOneof},
                                            {3, "i", kInt64, kOneof},
                                            {4, "f", kFloat, kOneof},
                                            {5, "b", kBool, kOneof},
                                            {6, "type", kEnum, kOneof, nullptr, kDataTypeNames},
                                            {7, "shape", kMessage, kOneof, &kTensorShapeProto},
                                            {8, "tensor", kMessage, kOneof, &kTensorProto},
                                            {9, "placeholder", kString, kOneof},
                                            {10, "func", kMessage, kOneof, &kNameAttrList}};
constexpr FieldSchema kTensorShapeProtoFields[] = {
    {2, "dim", kMessage, kRepeated, &kTensorShapeProtoDim}, {3, "unknown_rank", kBool, kImplicit}};
constexpr FieldSchema kTensorShapeProtoDimFields[] = {{1, "size", kInt64, kImplicit},
                                                      {2, "name", kString, kImplicit}};
constexpr FieldSchema kTensorProtoFields[] = {
    {1, "dtype", kEnum, kImplicit, nullptr, kDataTypeNames},
    {2, "tensor_shape", kMessage, kImplicit, &kTensorShapeProto},
    {3, "version_number", kInt32, kImplicit},
    {4, "tensor_content", kBytes, kImplicit},
    {5, "float_val", kFloat, kRepeated},
    {6, "double_val", kDouble, kRepeated},
    {7, "int_val", kInt32, kRepeated},
    {8, "string_val", kBytes, kRepeated},
    {9, "scomplex_val", kFloat, kRepeated},
    {10, "int64_val", kInt64, kRepeated},
    {11, "bool_val", kBool, kRepeated},
    {12, "dcomplex_val", kDouble, kRepeated},
    {13, "half_val", kInt32, kRepeated},
    {14, "resource_handle_val", kMessage, kRepeated, &kResourceHandleProto},
    {15, "variant_val", kMessage, kRepeated, &kVariantTensorDataProto},
    {16, "uint32_val", kUint32, kRepeated},
    {17, "uint64_val", kUint64, kRepeated},
    {18, "float8_val", kBytes, kImplicit}};
constexpr FieldSchema kResourceHandleProtoFields[] = {
    {1, "device", kString, kImplicit},
    {2, "container", kString, kImplicit},
    {3, "name", kString, kImplicit},
    {4, "hash_code", kUint64, kImplicit},
    {5, "maybe_type_name", kString, kImplicit},
    {6, "dtypes_and_shapes", kMessage, kRepeated, &kResourceHandleProtoDtypeAndShape}};
constexpr FieldSchema kResourceHandleProtoDtypeAndShapeFields[] = {
    {1, "dtype", kEnum, kImplicit, nullptr, kDataTypeNames},
    {2, "shape", kMessage, kImplicit, &kTensorShapeProto}};
constexpr FieldSchema kVariantTensorDataProtoFields[] = {
    {1, "type_name", kString, kImplicit},
    {2, "metadata", kBytes, kImplicit},
    {3, "tensors", kMessage, kRepeated, &kTensorProto}};
constexpr FieldSchema kAttrValueListValueFields[] = {
    {2, "s", kBytes, kRepeated},
    {3, "i", kInt64, kRepeated},
    {4, "f", kFloat, kRepeated},
    {5, "b", kBool, kRepeated},
    {6, "type", kEnum, kRepeated, nullptr, kDataTypeNames},
    {7, "shape", kMessage, kRepeated, &kTensorShapeProto},
    {8, "tensor", kMessage, kRepeated, &kTensorProto},
    {9, "func", kMessage, kRepeated, &kNameAttrList}};
constexpr FieldSchema kNameAttrListFields[] = {
    {1, "name", kString, kImplicit}, {2, "attr", kMessage, kMap, &kNameAttrListAttrEntry}};
constexpr FieldSchema kNameAttrListAttrEntryFields[] = {
    {1, "key", kString, kImplicit}, {2, "value", kMessage, kImplicit, &kAttrValue}};
constexpr FieldSchema kNodeDefExperimentalDebugInfoFields[] = {
    {1, "original_node_names", kString, kRepeated}, {2, "original_func_names", kString, kRepeated}};
constexpr FieldSchema kFullTypeDefFields[] = {
    {1, "type_id", kEnum, kImplicit, nullptr, kFullTypeIdNames},
    {2, "args", kMessage, kRepeated, &kFullTypeDef},
    {3, "s", kString, kOneof},
    {4, "i", kInt64, kOneof}};
constexpr FieldSchema kVersionDefFields[] = {{1, "producer", kInt32, kImplicit},
                                             {2, "min_consumer", kInt32, kImplicit},
                                             {3, "bad_consumers", kInt32, kRepeated}};
constexpr FieldSchema kFunctionDefLibraryFields[] = {
    {1, "function", kMessage, kRepeated, &kFunctionDef},
    {2, "gradient", kMessage, kRepeated, &kGradientDef},
    {3, "registered_gradients", kMessage, kRepeated, &kRegisteredGradient}};
constexpr FieldSchema kFunctionDefFields[] = {
    {1, "signature", kMessage, kImplicit, &kOpDef},
    {3, "node_def", kMessage, kRepeated, &kNodeDef},
    {4, "ret", kMessage, kMap, &kFunctionDefRetEntry},
    {5, "attr", kMessage, kMap, &kFunctionDefAttrEntry},
    {6, "control_ret", kMessage, kMap, &kFunctionDefControlRetEntry},
    {7, "arg_attr", kMessage, kMap, &kFunctionDefArgAttrEntry},
    {8, "resource_arg_unique_id", kMessage, kMap, &kFunctionDefResourceArgUniqueIdEntry}};
constexpr FieldSchema kOpDefFields[] = {{1, "name", kString, kImplicit},
                                        {2, "input_arg", kMessage, kRepeated, &kOpDefArgDef},
                                        {3, "output_arg", kMessage, kRepeated, &kOpDefArgDef},
                                        {4, "attr", kMessage, kRepeated, &kOpDefAttrDef},
                                        {5, "summary", kString, kImplicit},
                                        {6, "description", kString, kImplicit},
                                        {8, "deprecation", kMessage, kImplicit, &kOpDeprecation},
                                        {16, "is_aggregate", kBool, kImplicit},
                                        {17, "is_stateful", kBool, kImplicit},
                                        {18, "is_commutative", kBool, kImplicit},
                                        {19, "allows_uninitialized_input", kBool, kImplicit},
                                        {20, "control_output", kString, kRepeated},
                                        {21, "is_distributed_communication", kBool, kImplicit}};
constexpr FieldSchema kOpDefArgDefFields[] = {
    {1, "name", kString, kImplicit},
    {2, "description", kString, kImplicit},
    {3, "type", kEnum, kImplicit, nullptr, kDataTypeNames},
    {4, "type_attr", kString, kImplicit},
    {5, "number_attr", kString, kImplicit},
    {6, "type_list_attr", kString, kImplicit},
    {7, "handle_data", kMessage, kRepeated, &kResourceHandleProtoDtypeAndShape},
    {16, "is_ref", kBool, kImplicit},
    {17, "experimental_full_type", kMessage, kImplicit, &kFullTypeDef}};
constexpr FieldSchema kOpDefAttrDefFields[] = {
    {1, "name", kString, kImplicit},
    {2, "type", kString, kImplicit},
    {3, "default_value", kMessage, kImplicit, &kAttrValue},
    {4, "description", kString, kImplicit},
    {5, "has_minimum", kBool, kImplicit},
    {6, "minimum", kInt64, kImplicit},
    {7, "allowed_values", kMessage, kImplicit, &kAttrValue}};
constexpr FieldSchema kOpDeprecationFields[] = {{1, "version", kInt32, kImplicit},
                                                {2, "explanation", kString, kImplicit}};
constexpr FieldSchema kFunctionDefAttrEntryFields[] = {
    {1, "key", kString, kImplicit}, {2, "value", kMessage, kImplicit, &kAttrValue}};
constexpr FieldSchema kFunctionDefArgAttrEntryFields[] = {
    {1, "key", kUint32, kImplicit}, {2, "value", kMessage, kImplicit, &kFunctionDefArgAttrs}};
constexpr FieldSchema kFunctionDefArgAttrsFields[] = {
    {1, "attr", kMessage, kMap, &kFunctionDefArgAttrsAttrEntry}};
constexpr FieldSchema kFunctionDefArgAttrsAttrEntryFields[] = {
    {1, "key", kString, kImplicit}, {2, "value", kMessage, kImplicit, &kAttrValue}};
constexpr FieldSchema kFunctionDefResourceArgUniqueIdEntryFields[] = {
    {1, "key", kUint32, kImplicit}, {2, "value", kUint32, kImplicit}};
constexpr FieldSchema kFunctionDefRetEntryFields[] = {{1, "key", kString, kImplicit},
                                                      {2, "value", kString, kImplicit}};
constexpr FieldSchema kFunctionDefControlRetEntryFields[] = {{1, "key", kString, kImplicit},
                                                             {2, "value", kString, kImplicit}};
constexpr FieldSchema kGradientDefFields[] = {{1, "function_name", kString, kImplicit},
                                              {2, "gradient_func", kString, kImplicit}};
constexpr FieldSchema kRegisteredGradientFields[] = {{1, "gradient_func", kString, kImplicit},
                                                     {2, "registered_op_type", kString, kImplicit}};
constexpr FieldSchema kGraphDebugInfoFields[] = {
    {1, "files", kString, kRepeated},
    {2, "traces", kMessage, kMap, &kGraphDebugInfoTracesEntry},
    {4, "frames_by_id", kMessage, kMap, &kGraphDebugInfoFramesByIdEntry},
    {5, "name_to_trace_id", kMessage, kMap, &kGraphDebugInfoNameToTraceIdEntry},
    {6, "traces_by_id", kMessage, kMap, &kGraphDebugInfoTracesByIdEntry}};
constexpr FieldSchema kGraphDebugInfoFramesByIdEntryFields[] = {
    {1, "key", kFixed64, kExplicit},
    {2, "value", kMessage, kImplicit, &kGraphDebugInfoFileLineCol}};
constexpr FieldSchema kGraphDebugInfoFileLineColFields[] = {{1, "file_index", kInt32, kExplicit},
                                                            {2, "line", kInt32, kExplicit},
                                                            {3, "col", kInt32, kExplicit},
                                                            {4, "func", kString, kExplicit},
                                                            {5, "code", kString, kExplicit}};
constexpr FieldSchema kGraphDebugInfoTracesByIdEntryFields[] = {
    {1, "key", kFixed64, kExplicit}, {2, "value", kMessage, kImplicit, &kGraphDebugInfoStackTrace}};
constexpr FieldSchema kGraphDebugInfoStackTraceFields[] = {
    {1, "file_line_cols", kMessage, kRepeated, &kGraphDebugInfoFileLineCol},
    {2, "frame_id", kFixed64, kRepeated}};
constexpr FieldSchema kGraphDebugInfoTracesEntryFields[] = {
    {1, "key", kString, kExplicit}, {2, "value", kMessage, kImplicit, &kGraphDebugInfoStackTrace}};
constexpr FieldSchema kGraphDebugInfoNameToTraceIdEntryFields[] = {
    {1, "key", kString, kExplicit}, {2, "value", kFixed64, kExplicit}};
constexpr FieldSchema kRunMetadataFields[] = {
    {1, "step_stats", kMessage, kImplicit, &kStepStats},
    {2, "cost_graph", kMessage, kImplicit, &kCostGraphDef},
    {3, "partition_graphs", kMessage, kRepeated, &kGraphDef},
    {4, "function_graphs", kMessage, kRepeated, &kRunMetadataFunctionGraphs},
    {5, "session_metadata", kMessage, kImplicit, &kSessionMetadata}};
constexpr FieldSchema kStepStatsFields[] = {
    {1, "dev_stats", kMessage, kRepeated, &kDeviceStepStats}};
constexpr FieldSchema kDeviceStepStatsFields[] = {
    {1, "device", kString, kImplicit},
    {2, "node_stats", kMessage, kRepeated, &kNodeExecStats},
    {3, "thread_names", kMessage, kMap, &kDeviceStepStatsThreadNamesEntry}};
constexpr FieldSchema kNodeExecStatsFields[] = {
    {1, "node_name", kString, kImplicit},
    {2, "all_start_micros", kInt64, kImplicit},
    {3, "op_start_rel_micros", kInt64, kImplicit},
    {4, "op_end_rel_micros", kInt64, kImplicit},
    {5, "all_end_rel_micros", kInt64, kImplicit},
    {6, "memory", kMessage, kRepeated, &kAllocatorMemoryUsed},
    {7, "output", kMessage, kRepeated, &kNodeOutput},
    {8, "timeline_label", kString, kImplicit},
    {9, "scheduled_micros", kInt64, kImplicit},
    {10, "thread_id", kUint32, kImplicit},
    {11, "referenced_tensor", kMessage, kRepeated, &kAllocationDescription},
    {12, "memory_stats", kMessage, kImplicit, &kMemoryStats},
    {13, "all_start_nanos", kInt64, kImplicit},
    {14, "op_start_rel_nanos", kInt64, kImplicit},
    {15, "op_end_rel_nanos", kInt64, kImplicit},
    {16, "all_end_rel_nanos", kInt64, kImplicit},
    {17, "scheduled_nanos", kInt64, kImplicit}};
constexpr FieldSchema kAllocatorMemoryUsedFields[] = {
    {1, "allocator_name", kString, kImplicit},
    {2, "total_bytes", kInt64, kImplicit},
    {3, "peak_bytes", kInt64, kImplicit},
    {4, "live_bytes", kInt64, kImplicit},
    {5, "allocator_bytes_in_use", kInt64, kImplicit},
    {6, "allocation_records", kMessage, kRepeated, &kAllocationRecord}};
constexpr FieldSchema kAllocationRecordFields[] = {{1, "alloc_micros", kInt64, kImplicit},
                                                   {2, "alloc_bytes", kInt64, kImplicit}};
constexpr FieldSchema kNodeOutputFields[] = {
    {1, "slot", kInt32, kImplicit},
    {3, "tensor_description", kMessage, kImplicit, &kTensorDescription}};
constexpr FieldSchema kTensorDescriptionFields[] = {
    {1, "dtype", kEnum, kImplicit, nullptr, kDataTypeNames},
    {2, "shape", kMessage, kImplicit, &kTensorShapeProto},
    {4, "allocation_description", kMessage, kImplicit, &kAllocationDescription}};
constexpr FieldSchema kAllocationDescriptionFields[] = {
    {1, "requested_bytes", kInt64, kImplicit},     {2, "allocated_bytes", kInt64, kImplicit},
    {3, "allocator_name", kString, kImplicit},     {4, "allocation_id", kInt64, kImplicit},
    {5, "has_single_reference", kBool, kImplicit}, {6, "ptr", kUint64, kImplicit}};
constexpr FieldSchema kMemoryStatsFields[] = {
    {1, "temp_memory_size", kInt64, kImplicit},
    {2, "device_temp_memory_size", kInt64, kImplicit},
    {3, "persistent_memory_size", kInt64, kImplicit},
    {4, "device_persistent_memory_size", kInt64, kImplicit},
    {5, "persistent_tensor_alloc_ids", kInt64, kRepeated},
    {6, "device_persistent_tensor_alloc_ids", kInt64, kRepeated}};
constexpr FieldSchema kDeviceStepStatsThreadNamesEntryFields[] = {{1, "key", kUint32, kImplicit},
                                                                  {2, "value", kString, kImplicit}};
constexpr FieldSchema kCostGraphDefFields[] = {
    {1, "node", kMessage, kRepeated, &kCostGraphDefNode},
    {2, "cost", kMessage, kRepeated, &kCostGraphDefAggregatedCost}};
constexpr FieldSchema kCostGraphDefNodeFields[] = {
    {1, "name", kString, kImplicit},
    {2, "device", kString, kImplicit},
    {3, "id", kInt32, kImplicit},
    {4, "input_info", kMessage, kRepeated, &kCostGraphDefNodeInputInfo},
    {5, "output_info", kMessage, kRepeated, &kCostGraphDefNodeOutputInfo},
    {6, "temporary_memory_size", kInt64, kImplicit},
    {7, "is_final", kBool, kImplicit},
    {8, "control_input", kInt32, kRepeated},
    {9, "compute_cost", kInt64, kImplicit},
    {10, "host_temp_memory_size", kInt64, kImplicit},
    {11, "device_temp_memory_size", kInt64, kImplicit},
    {12, "persistent_memory_size", kInt64, kImplicit},
    {14, "compute_time", kInt64, kImplicit},
    {15, "memory_time", kInt64, kImplicit},
    {16, "device_persistent_memory_size", kInt64, kImplicit},
    {17, "inaccurate", kBool, kImplicit}};
constexpr FieldSchema kCostGraphDefNodeInputInfoFields[] = {
    {1, "preceding_node", kInt32, kImplicit}, {2, "preceding_port", kInt32, kImplicit}};
constexpr FieldSchema kCostGraphDefNodeOutputInfoFields[] = {
    {1, "size", kInt64, kImplicit},
    {2, "alias_input_port", kInt64, kImplicit},
    {3, "shape", kMessage, kImplicit, &kTensorShapeProto},
    {4, "dtype", kEnum, kImplicit, nullptr, kDataTypeNames}};
constexpr FieldSchema kCostGraphDefAggregatedCostFields[] = {{1, "cost", kFloat, kImplicit},
                                                             {2, "dimension", kString, kImplicit}};
constexpr FieldSchema kRunMetadataFunctionGraphsFields[] = {
    {1, "partition_graphs", kMessage, kRepeated, &kGraphDef},
    {2, "pre_optimization_graph", kMessage, kImplicit, &kGraphDef},
    {3, "post_optimization_graph", kMessage, kImplicit, &kGraphDef}};
constexpr FieldSchema kSessionMetadataFields[] = {{1, "name", kString, kImplicit},
                                                  {2, "version", kInt64, kImplicit}};
const MessageSchema kNodeDef = {"NodeDef", kNodeDefFields};
const MessageSchema kNodeDefAttrEntry = {"AttrEntry", kNodeDefAttrEntryFields};
const MessageSchema kAttrValue = {"AttrValue", kAttrValueFields};
const MessageSchema kTensorShapeProto = {"TensorShapeProto", kTensorShapeProtoFields};
const MessageSchema kTensorShapeProtoDim = {"Dim", kTensorShapeProtoDimFields};
const MessageSchema kTensorProto = {"TensorProto", kTensorProtoFields};
const MessageSchema kResourceHandleProto = {"ResourceHandleProto", kResourceHandleProtoFields};
const MessageSchema kResourceHandleProtoDtypeAndShape = {"DtypeAndShape",
                                                         kResourceHandleProtoDtypeAndShapeFields};
const MessageSchema kVariantTensorDataProto = {"VariantTensorDataProto",
                                               kVariantTensorDataProtoFields};
const MessageSchema kAttrValueListValue = {"ListValue", kAttrValueListValueFields};
const MessageSchema kNameAttrList = {"NameAttrList", kNameAttrListFields};
const MessageSchema kNameAttrListAttrEntry = {"AttrEntry", kNameAttrListAttrEntryFields};
const MessageSchema kNodeDefExperimentalDebugInfo = {"ExperimentalDebugInfo",
                                                     kNodeDefExperimentalDebugInfoFields};
const MessageSchema kFullTypeDef = {"FullTypeDef", kFullTypeDefFields};
const MessageSchema kVersionDef = {"VersionDef", kVersionDefFields};
const MessageSchema kFunctionDefLibrary = {"FunctionDefLibrary", kFunctionDefLibraryFields};
const MessageSchema kFunctionDef = {"FunctionDef", kFunctionDefFields};
const MessageSchema kOpDef = {"OpDef", kOpDefFields};
const MessageSchema kOpDefArgDef = {"ArgDef", kOpDefArgDefFields};
const MessageSchema kOpDefAttrDef = {"AttrDef", kOpDefAttrDefFields};
const MessageSchema kOpDeprecation = {"OpDeprecation", kOpDeprecationFields};
const MessageSchema kFunctionDefAttrEntry = {"AttrEntry", kFunctionDefAttrEntryFields};
const MessageSchema kFunctionDefArgAttrEntry = {"ArgAttrEntry", kFunctionDefArgAttrEntryFields};
const MessageSchema kFunctionDefArgAttrs = {"ArgAttrs", kFunctionDefArgAttrsFields};
const MessageSchema kFunctionDefArgAttrsAttrEntry = {"AttrEntry",
                                                     kFunctionDefArgAttrsAttrEntryFields};
const MessageSchema kFunctionDefResourceArgUniqueIdEntry = {
    "ResourceArgUniqueIdEntry", kFunctionDefResourceArgUniqueIdEntryFields};
const MessageSchema kFunctionDefRetEntry = {"RetEntry", kFunctionDefRetEntryFields};
const MessageSchema kFunctionDefControlRetEntry = {"ControlRetEntry",
                                                   kFunctionDefControlRetEntryFields};
const MessageSchema kGradientDef = {"GradientDef", kGradientDefFields};
const MessageSchema kRegisteredGradient = {"RegisteredGradient", kRegisteredGradientFields};
const MessageSchema kGraphDebugInfo = {"GraphDebugInfo", kGraphDebugInfoFields};
const MessageSchema kGraphDebugInfoFramesByIdEntry = {"FramesByIdEntry",
                                                      kGraphDebugInfoFramesByIdEntryFields};
const MessageSchema kGraphDebugInfoFileLineCol = {"FileLineCol", kGraphDebugInfoFileLineColFields};
const MessageSchema kGraphDebugInfoTracesByIdEntry = {"TracesByIdEntry",
                                                      kGraphDebugInfoTracesByIdEntryFields};
const MessageSchema kGraphDebugInfoStackTrace = {"StackTrace", kGraphDebugInfoStackTraceFields};
const MessageSchema kGraphDebugInfoTracesEntry = {"TracesEntry", kGraphDebugInfoTracesEntryFields};
const MessageSchema kGraphDebugInfoNameToTraceIdEntry = {"NameToTraceIdEntry",
                                                         kGraphDebugInfoNameToTraceIdEntryFields};
const MessageSchema kDeviceStepStats = {"DeviceStepStats", kDeviceStepStatsFields};
const MessageSchema kNodeExecStats = {"NodeExecStats", kNodeExecStatsFields};
const MessageSchema kAllocatorMemoryUsed = {"AllocatorMemoryUsed", kAllocatorMemoryUsedFields};
const MessageSchema kAllocationRecord = {"AllocationRecord", kAllocationRecordFields};
const MessageSchema kNodeOutput = {"NodeOutput", kNodeOutputFields};
const MessageSchema kAllocationDescription = {"AllocationDescription",
                                              kAllocationDescriptionFields};
const MessageSchema kMemoryStats = {"MemoryStats", kMemoryStatsFields};
const MessageSchema kDeviceStepStatsThreadNamesEntry = {"ThreadNamesEntry",
                                                        kDeviceStepStatsThreadNamesEntryFields};
const MessageSchema kCostGraphDef = {"CostGraphDef", kCostGraphDefFields};
const MessageSchema kCostGraphDefNode = {"Node", kCostGraphDefNodeFields};
const MessageSchema kCostGraphDefNodeInputInfo = {"InputInfo", kCostGraphDefNodeInputInfoFields};
const MessageSchema kCostGraphDefNodeOutputInfo = {"OutputInfo", kCostGraphDefNodeOutputInfoFields};
const MessageSchema kCostGraphDefAggregatedCost = {"AggregatedCost",
                                                   kCostGraphDefAggregatedCostFields};
const MessageSchema kRunMetadataFunctionGraphs = {"FunctionGraphs",
                                                  kRunMetadataFunctionGraphsFields};
const MessageSchema kSessionMetadata = {"SessionMetadata", kSessionMetadataFields};

}  // namespace

const MessageSchema kGraphDef = {"GraphDef", kGraphDefFields};
const MessageSchema kRunMetadata = {"RunMetadata", kRunMetadataFields};
const MessageSchema kStepStats = {"StepStats", kStepStatsFields};
const MessageSchema kTensorDescription = {"TensorDescription", kTensorDescriptionFields};

}  // namespace sonde::graph
