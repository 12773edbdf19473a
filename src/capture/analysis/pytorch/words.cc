#include "capture/analysis/pytorch/words.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace sonde::capture::pytorch {
namespace {

constexpr std::string_view kTensorCoreKernels[] = {
    "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm",
    "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm",
    "c1688",
    // Hopper, Blackwell and what the libraries of today call themselves.
    "wgmma", "cutlass3x", "tensorop", "sm90_xmma", "sm100_xmma", "tcgen05", "nvjet_"};

// Sorted, for binary search.
constexpr std::string_view kTensorCoreOperators[] = {
    "AddbmmBackward",
    "AddmmBackward",
    "AddmmBackward0",
    "AddmvBackward",
    "BmmBackward0",
    "ConvolutionBackward0",
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "MmBackward",
    "MmBackward0",
    "MvBackward",
    "aten::_convolution",
    "aten::_thnn_fused_gru_cell",
    "aten::_thnn_fused_lstm_cell",
    "aten::addbmm",
    "aten::addmm",
    "aten::addmm_",
    "aten::addmv",
    "aten::addr",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_backward_weight",
    "aten::cudnn_convolution_transpose",
    "aten::cudnn_convolution_transpose_backward",
    "aten::cudnn_convolution_transpose_backward_input",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::gru_cell",
    "aten::linalg_multi_dot",
    "aten::linear",
    "aten::lstm_cell",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::prelu",
    "aten::rnn_relu_cell",
    "aten::rnn_tanh_cell",
};

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

bool is_data_loader(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

bool is_parallel_wrapper(std::string_view name) {
  return name == "DataParallel.forward" || name == "DistributedDataParallel.forward";
}

Kind operator_kind(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return Kind::kStep;
  if (is_data_loader(name)) return Kind::kDataLoader;
  if (name.starts_with("Optimizer.")) return Kind::kOptimizer;
  return Kind::kOperator;
}

Kind annotation_kind(std::string_view name) {
  const Kind kind = operator_kind(name);
  if (kind != Kind::kOperator) return kind;
  return is_collective_call(name) ? Kind::kCommunication : Kind::kAnnotation;
}

LabelWord host_word(std::string_view name, std::string_view category) {
  LabelWord word;
  if (category == "cpu_op" || category == "operator") {
    word.kind = operator_kind(name);
    word.in_tree = true;
    word.is_row = word.kind == Kind::kOperator && !is_parallel_wrapper(name);
    word.eligible = word.is_row && is_tensor_core_operator(name);
    word.is_communication = name.starts_with("nccl:") || name.starts_with("gloo:");
  } else if (category == "user_annotation") {
    word.kind = annotation_kind(name);
    word.in_tree = word.kind == Kind::kStep || word.kind == Kind::kCommunication;
    word.is_communication = word.kind == Kind::kCommunication;
  } else if (category == "python_function") {
    word.kind = name.starts_with("nn.Module: ") ? Kind::kModule : Kind::kPython;
    word.in_tree = word.kind == Kind::kModule;
  } else if (category.ends_with("runtime") || category.ends_with("driver")) {
    word.kind = Kind::kLaunch;
  } else if (category == "trace") {
    word.kind = Kind::kWindow;
  } else if (name == "[memory]") {
    word.kind = Kind::kMemory;
  }
  return word;
}

LabelWord word_of(std::string_view name, std::string_view category) {
  LabelWord word;
  if (category == "kernel" || category == "mtia_ccp_events") {
    word.kind = Kind::kKernel;
    word.uses_tensor_cores = is_tensor_core_kernel(name);
    word.is_communication = is_communication_kernel(name);
  } else if (category == "gpu_memcpy" || category == "memcpy") {
    word.kind = Kind::kMemcpy;
  } else if (category == "gpu_memset" || category == "memset") {
    word.kind = Kind::kMemset;
  } else if (category == "gpu_user_annotation") {
    word.kind = Kind::kDeviceAnnotation;
  } else if (category.ends_with("_sync")) {
    word.kind = Kind::kSync;
  } else {
    return host_word(name, category);
  }
  return word;
}

}  // namespace

bool is_tensor_core_kernel(std::string_view name) {
  return std::ranges::any_of(kTensorCoreKernels, [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool is_tensor_core_operator(std::string_view name) {
  return std::ranges::binary_search(kTensorCoreOperators, name);
}

bool is_communication_kernel(std::string_view name) {
  for (const std::string_view start : {"nccl", "rccl", "mscclpp", "oneccl"}) {
    if (name.starts_with(start)) return true;
  }
  for (const std::string_view part :
       {"ncclDevKernel", "ncclKernel", "all_reduce_kernel", "multimem_all", "symm_mem"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool is_collective_call(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("c10d::");
}

Words::Words(const trace::Trace& t)
    : external_id(t.key("External id")),
      old_external_id(t.key("external id")),
      correlation(t.key("correlation")),
      device(t.key("device")),
      stream(t.key("stream")),
      input_dims(t.key("Input Dims")),
      old_input_dims(t.key("Input dims")),
      input_type(t.key("Input type")),
      call_stack(t.key("Call stack")),
      python_id(t.key("Python id")),
      python_parent(t.key("Python parent id")),
      python_module(t.key("Python module id")),
      collective_name(t.key("Collective name")),
      group_name(t.key("Process Group Name")),
      sequence(t.key("Seq")),
      bytes(t.key("Bytes")),
      address(t.key("Addr")),
      device_type(t.key("Device Type")),
      device_id(t.key("Device Id")),
      allocated(t.key("Total Allocated")),
      reserved(t.key("Total Reserved")),
      blocks_per_sm(t.key("blocks per SM")),
      occupancy(t.key("est. achieved occupancy %")),
      grid(t.key("grid")),
      block(t.key("block")),
      registers(t.key("registers per thread")),
      shared_memory(t.key("shared memory")),
      elements_in(t.key("In msg nelems")),
      dtype(t.key("dtype")),
      copy_bytes(t.key("bytes")) {
  labels.reserve(t.labels().size());
  for (const trace::Label& label : t.labels()) {
    const std::string_view category =
        label.category == trace::kNone ? std::string_view{} : t.text(label.category);
    labels.push_back(word_of(t.text(label.name), lowered(category)));
  }
}

}  // namespace sonde::capture::pytorch
