// A series as readers see it: the parts of a tag, one file after the other, and which of their
// points a restart has superseded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "log/model/part.h"
#include "log/model/snapshot.h"

namespace sonde::store {

class PartSeries final : public Series {
 public:
  struct Making {
    std::vector<std::shared_ptr<const PartView>> parts;  // in file order, all of one kind
    std::shared_ptr<const Metadata> metadata;
    std::vector<Cut> cuts;  // positions count over all parts; sorted by position
    uint64_t revision = 0;
    uint64_t layout = 0;
  };
  explicit PartSeries(Making making);

  void blocks(Range range, const std::function<void(const ScalarBlock&)>& fn) const override;
  std::span<const BlobPoint> points(Range range) const override;

  const std::vector<std::shared_ptr<const PartView>>& parts() const { return parts_; }
  const std::vector<Cut>& cuts() const { return cuts_; }
  uint64_t unreadable() const override { return unreadable_; }

 private:
  void hide_superseded();
  template <class Fn>
  void each_step(Fn&& fn) const;

  std::vector<std::shared_ptr<const PartView>> parts_;
  std::vector<Cut> cuts_;
  std::vector<BlobPoint> joined_;  // references of several parts; one part's are used in place
  const BlobPoint* references_ = nullptr;  // joined_ or the only part's
  uint64_t unreadable_ = 0;
};

}  // namespace sonde::store
