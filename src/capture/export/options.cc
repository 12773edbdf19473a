#include "capture/export/options.h"

namespace sonde::exports {

imports::Lanes Options::lane_rule() const {
  if (is_compat() || lanes == "tf") return imports::Lanes::kTensorFlow;
  return lanes == "packed" ? imports::Lanes::kPacked : imports::Lanes::kThread;
}

imports::OpTime Options::op_time_rule() const {
  return op_time == "gpu"   ? imports::OpTime::kGpu
         : op_time == "all" ? imports::OpTime::kAll
                            : imports::OpTime::kSchedule;
}

}  // namespace sonde::exports
