#include "capture/analysis/pytorch/operator_work.h"

#include <doctest/doctest.h>

#include "capture/analysis/ops/data_sheets.h"

using namespace sonde::capture;
using namespace sonde::capture::pytorch;

TEST_CASE("operator_work: matrix products") {
  const OperatorWork mm =
      work_of_call("aten::mm", "[[4, 8], [8, 2]]", R"(["c10::BFloat16", "c10::BFloat16"])", "");
  CHECK(mm.flops == 2 * 4 * 8 * 2);
  CHECK(mm.bytes == 2 * (4 * 8 + 8 * 2 + 4 * 2));
  CHECK(mm.precision == Precision::k16);
  const OperatorWork addmm =
      work_of_call("aten::addmm", "[[2], [4, 8], [8, 2], [], []]",
                   R"(["double", "float", "float", "Scalar", "Scalar"])", "");
  CHECK(addmm.flops == mm.flops);
  CHECK(addmm.precision == Precision::k32);
  CHECK(work_of_call("aten::bmm", "[[3, 4, 8], [3, 8, 2]]", "", "").flops == 3 * mm.flops);
  CHECK(work_of_call("aten::mm", "[[4, 8], [7, 2]]", "", "").flops == 0);
  CHECK(work_of_call("aten::add", "[[4, 8], [8, 2]]", "", "").flops == 0);
}

TEST_CASE("operator_work: convolutions need stride, padding and dilation") {
  constexpr const char* kDims = "[[2, 3, 9, 9], [8, 3, 3, 3], [8], [], [], [], [], [], []]";
  constexpr const char* kConcrete =
      R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])";
  // 9 → (9 + 2 - 3) / 2 + 1 = 5 places each way.
  CHECK(work_of_call("aten::convolution", kDims, R"(["float"])", kConcrete).flops ==
        2.0 * (2 * 8 * 5 * 5) * (3 * 3 * 3));
  CHECK(work_of_call("aten::convolution", kDims, R"(["float"])", "").flops == 0);
  const std::string backward =
      R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", )"
      R"("[True, True, False]"])";
  constexpr const char* kGradients = "[[2, 8, 5, 5], [2, 3, 9, 9], [8, 3, 3, 3], [], []]";
  CHECK(work_of_call("aten::convolution_backward", kGradients, R"(["float"])", backward).flops ==
        2 * 2.0 * (2 * 8 * 5 * 5) * (3 * 3 * 3));
  std::string of_weight_only = backward;
  of_weight_only.replace(of_weight_only.find("[True, True"), 5, "[False");
  CHECK(work_of_call("aten::convolution_backward", kGradients, R"(["float"])", of_weight_only)
            .flops == 2.0 * (2 * 8 * 5 * 5) * (3 * 3 * 3));
}

TEST_CASE("operator_work: attention, its gradient twice the forward pass") {
  constexpr const char* kDims = "[[2, 4, 10, 16], [2, 4, 12, 16], [2, 4, 12, 32], [], []]";
  const double forward =
      work_of_call("aten::_scaled_dot_product_flash_attention", kDims, "", "").flops;
  CHECK(forward == 2.0 * 2 * 4 * 10 * 12 * (16 + 32));
  CHECK(work_of_call("aten::_scaled_dot_product_flash_attention_backward",
                     "[[2, 4, 10, 32], [2, 4, 10, 16], [2, 4, 12, 16], [2, 4, 12, 32]]", "", "")
            .flops == 2 * forward);
}

TEST_CASE("operator_work: lists that are damaged or huge compute nothing absurd") {
  CHECK(work_of_call("aten::mm", "[[4, 8], [8", "", "").flops == 0);
  CHECK(work_of_call("aten::mm", "[[[4]], [[8]]]", "", "").flops == 0);
  CHECK(work_of_call("aten::mm", "", "", "").flops == 0);
  const double most = work_of_call("aten::mm", "[[99999999999999999999, 2], [2, 2]]", "", "").flops;
  CHECK(most >= 0);
  CHECK(work_of_call("aten::mm", "[[-4, 8], [8, 2]]", "", "").flops == 0);
}

TEST_CASE("data_sheets: a device by the words of its name") {
  CHECK(data_sheet_peaks("NVIDIA H100 80GB HBM3").gflops_fp16 == doctest::Approx(989400));
  CHECK(data_sheet_peaks("NVIDIA H100 PCIe").gflops_fp16 == doctest::Approx(756000));
  CHECK(data_sheet_peaks("NVIDIA A100-PG509-200").gflops_tf32 == doctest::Approx(156000));
  CHECK(data_sheet_peaks("Tesla V100-DGXS-32GB").gflops_fp16 == doctest::Approx(125000));
  CHECK(data_sheet_peaks("NVIDIA L40").gflops_fp16 < data_sheet_peaks("NVIDIA L40S").gflops_fp16);
  CHECK(data_sheet_peaks("AMD Instinct MI300X VF").hbm_gb_per_s == 5300);
  CHECK(data_sheet_peaks("NVIDIA RTX A3000 Laptop GPU").gflops == 0);
  CHECK(data_sheet_peaks("").gflops == 0);
}
