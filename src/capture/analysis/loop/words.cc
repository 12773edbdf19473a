#include "capture/analysis/loop/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace sonde::capture::loop {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <size_t N>
bool any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view p) { return has(text, p); });
}

constexpr std::array<std::string_view, 11> kCompileParts = {
    "backend_compile",        "XlaCompile",      "CompileToLocalExecutable",
    "PjRtCpuClient::Compile", "BuildExecutable", "lower_sharding_computation",
    "trace_to_jaxpr",         "(dynamo_timed)",  "JitCompiler::",
    "CpuCompiler::",          "GpuCompiler::"};
constexpr std::array<std::string_view, 5> kCallbackParts = {
    "pure_callback", "io_callback", "debug_callback", "debug_print", "python_cpu_callback"};
constexpr std::array<std::string_view, 3> kPyFuncs = {"PyFunc", "EagerPyFunc", "PyFuncStateless"};
constexpr std::array<std::string_view, 7> kCheckpointOps = {
    "SaveV2", "MergeV2Checkpoints", "ShardedFilename", "SaveSlices", "RestoreV2",
    "Save",   "SaveDataset"};

// The operation of "EagerLocalExecute: MatMul" or "model/layer:MatMul".
std::string_view operation_of(std::string_view name) {
  constexpr std::string_view kLocal = "EagerLocalExecute: ";
  if (name.starts_with(kLocal)) return name.substr(kLocal.size());
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos || colon + 1 == name.size() || name[colon + 1] == ' ' ||
                 (colon > 0 && name[colon - 1] == ':')
             ? name
             : name.substr(colon + 1);
}

bool is_compiled_function(std::string_view op) {
  return op.starts_with("__inference_") || op.starts_with("__forward_") ||
         op.starts_with("__backward_") || op.starts_with("PartitionedCall") ||
         op.starts_with("StatefulPartitionedCall");
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

int number(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

Word word_of(std::string_view name) {
  if (name.empty() || name.starts_with("end: ") || name.starts_with("Threadpool") ||
      name.starts_with("Memory") || name.starts_with("Wait for ") ||
      name.starts_with("TFE_Delete") || name.ends_with("2D Dispatch") || name == "D2H Dispatch")
    return Word::kSkip;
  if (is_frame(name)) return Word::kFrame;
  if (has(name, "(wait for completion)") || has(name, "BlockHostUntilReady") ||
      name.starts_with("Wait: "))
    return Word::kWait;
  if (any(name, kCompileParts)) return Word::kCompile;
  if (any(name, kCallbackParts)) return Word::kCallback;
  if (name.starts_with("ThunkExecutor::") || name.starts_with("ExecutorState::") ||
      name == "ExecutorDoneCallback")
    return Word::kContainer;
  const std::string_view op = operation_of(name);
  if (op.starts_with("IteratorGetNext") || name.starts_with("Iterator::")) return Word::kInput;
  if (std::ranges::find(kCheckpointOps, op) != kCheckpointOps.end()) return Word::kCheckpoint;
  if (std::ranges::find(kPyFuncs, op) != kPyFuncs.end()) return Word::kCallback;
  if (op.starts_with("Collective") || op.starts_with("Nccl") || has(name, "Rendezvous"))
    return Word::kCommunication;
  if (is_compiled_function(op) || name == "FunctionRun" || name == "RunGraph" ||
      name == "SessionRun")
    return Word::kFunction;
  return Word::kCall;
}

bool is_of_torch(const Frame& frame) {
  return (frame.file.starts_with("torch/") || has(frame.file, "-packages/torch/")) &&
         !has(frame.file, "torch/utils/data") && !has(frame.file, "torch/serialization");
}

bool is_torch_compile(std::string_view name) {
  return has(name, "(dynamo_timed)") || name == "dynamo" || name == "entire_frame_compile" ||
         name.starts_with("compile_attempt_");
}

bool is_framework_call(std::string_view name) {
  static constexpr std::array<std::string_view, 16> kOwn = {"TFE_",
                                                            "Eager",
                                                            "PjitFunction(",
                                                            "PjRt",
                                                            "CommonPjRt",
                                                            "DevicePut",
                                                            "tf.",
                                                            "tf_",
                                                            "shard_args",
                                                            "batched_",
                                                            "convert_to_tensor",
                                                            "Tfrt",
                                                            "MakeArrayFromSingleDeviceArrays",
                                                            "pxla",
                                                            "jax::",
                                                            "xla::"};
  return has(name, "::") || has(name, "#") ||
         std::any_of(kOwn.begin(), kOwn.end(), [&](auto own) { return name.starts_with(own); });
}

bool is_frame(std::string_view name) {
  return name.starts_with('$') || name.starts_with("<built-in ") || has(name, ".py(") ||
         name.starts_with("<frozen ") || name.starts_with("<string>(");
}

Frame frame_of(std::string_view name) {
  Frame frame;
  if (name.starts_with('$')) {
    name.remove_prefix(1);
    const size_t space = name.find(' ');
    if (space == std::string_view::npos) return {name, {}, 0, true};
    const std::string_view place = name.substr(0, space);
    frame.function = name.substr(space + 1);
    const size_t colon = place.rfind(".py:");
    frame.builtin = colon == std::string_view::npos;
    frame.file = frame.builtin ? place : place.substr(0, colon + 3);
    if (!frame.builtin) frame.line = number(place.substr(colon + 4));
    if (frame.file == "<unknown>" || frame.file == "builtins") frame.file = {};
    return frame;
  }
  if (name.starts_with("<built-in ")) {
    for (const std::string_view kind : {"method ", "function "}) {
      const size_t at = name.find(kind);
      if (at == std::string_view::npos) continue;
      std::string_view rest = name.substr(at + kind.size());
      rest = rest.substr(0, std::min(rest.find(' '), rest.find('>')));
      return {rest, {}, 0, true};
    }
    return {name, {}, 0, true};
  }
  const size_t close = name.find("): ");
  const size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open == std::string_view::npos) return {name, {}, 0, true};
  return {name.substr(close + 3), name.substr(0, open), number(name.substr(open + 1)), false};
}

bool saves(const Frame& frame) {
  // Activations that are computed again in the backward pass are called checkpoints, too.
  if (has(frame.file, "utils/checkpoint") || has(frame.file, "_checkpoint/") ||
      has(frame.file, "ad_checkpoint") || frame.function.starts_with("nn.Module: ") ||
      has(frame.file, "_functorch") || has(frame.function, "recompute") ||
      has(frame.function, "saved_tensor") || has(frame.function, "save_for_backward") ||
      has(frame.function, "save_on_cpu"))
    return false;
  return purpose_of(frame.function) == Purpose::kSaves;
}

bool keeps_books(const Frame& frame) {
  static constexpr std::array<std::string_view, 10> kFiles = {
      "_tensor_str.py", "utils/tensorboard/", "tensorboardX/", "logging/", "json/",
      "csv.py",         "pickle.py",          "matplotlib/",   "wandb/",   "mlflow/"};
  return any(frame.file, kFiles);
}

bool is_profiler(const Frame& frame) {
  const std::string_view file = frame.file;
  return file == "profiler.py" || file.ends_with("torch/profiler/profiler.py") ||
         file.ends_with("torch/autograd/profiler.py") || has(file, "jax/_src/profiler") ||
         has(file, "profiler_v2");
}

Purpose purpose_of(std::string_view function) {
  std::string text;
  for (const char c : function) text += lower(c);
  const size_t own = std::min(text.size(), text.find_first_not_of('_'));
  if (std::string_view(text).substr(own).starts_with("on_"))
    return Purpose::kUnknown;  // a callback: "on_train_batch_end"
  static constexpr std::array<std::string_view, 4> kSave = {"save", "checkpoint", "ckpt",
                                                            "snapshot"};
  static constexpr std::array<std::string_view, 5> kTest = {"evaluat", "validat", "test_step",
                                                            "eval_", "run_test"};
  static constexpr std::array<std::string_view, 12> kLog = {
      "log",   "metric", "summar",   "report", "print", "plot",
      "write", "record", "progress", "send",   "track", "upload"};
  static constexpr std::array<std::string_view, 19> kLoad = {
      "load", "batch",   "dataset",  "__next__",  "__getitem__", "read",  "fetch",
      "data", "augment", "preproc",  "decode",    "collate",     "token", "sample",
      "open", "next_",   "get_item", "transform", "generate"};
  if (any(text, kSave)) return Purpose::kSaves;
  if (any(text, kTest) || text == "evaluate" || text == "test") return Purpose::kEvaluates;
  if (any(text, kLog)) return Purpose::kLogs;
  if (any(text, kLoad)) return Purpose::kLoads;
  return Purpose::kUnknown;
}

Pool pool_of(std::string_view thread) {
  if (has(thread, "tf_data_")) return Pool::kTfData;
  if (has(thread, "Compiler") || has(thread, "codegen")) return Pool::kCompiler;
  if (has(thread, "XLA") || has(thread, "PjRt")) return Pool::kXla;
  if (thread == "python" || has(thread, "MainThread")) return Pool::kPython;
  return Pool::kOther;
}

}  // namespace sonde::capture::loop
