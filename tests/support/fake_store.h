// A store without files for tests of the door: one published revision, subscribers called by hand.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "store/store.h"

namespace sonde::http::testing {

class FakeStore final : public store::Store {
 public:
  std::shared_ptr<const store::Snapshot> snapshot() const override { return snapshot_; }
  const store::BlobReader& blobs() const override { return blobs_; }
  store::Diagnosis diagnosis() const override { return {}; }
  const store::Options& options() const override { return options_; }
  void wait_loaded(const std::function<void(const store::LoadProgress&)>&) override {}
  void reload() override {}
  std::shared_ptr<void> subscribe(std::function<void(const store::Change&)>) override {
    return nullptr;
  }

 private:
  struct NoBlobs final : store::BlobReader {
    Result<std::string> event(const store::Reference&) const override {
      return fail(Code::kNotFound, "no blob");
    }
    Result<std::string> head(const store::Reference&, uint64_t) const override {
      return fail(Code::kNotFound, "no blob");
    }
  };
  std::shared_ptr<const store::Snapshot> snapshot_ = std::make_shared<store::Snapshot>();
  NoBlobs blobs_;
  store::Options options_;
};

}  // namespace sonde::http::testing
