// Forgets uploads when nobody is there any more to look at them: no page is connected to the event
// stream and no request came for a while. Until then they are bounded by number and size where they
// are kept.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sonde::api {

class UploadKeeper {
 public:
  // `clients` counts the pages, `forget` drops the uploads; both from the keeper's own thread.
  UploadKeeper(std::chrono::milliseconds keep, std::function<size_t()> clients,
               std::function<void()> forget);
  ~UploadKeeper();

  void note_request() { last_ = Clock::now().time_since_epoch().count(); }
  void note_upload();  // from now on there is something to forget

 private:
  using Clock = std::chrono::steady_clock;
  void watch(const std::stop_token& stop);

  const std::chrono::milliseconds keep_;
  const std::function<size_t()> clients_;
  const std::function<void()> forget_;
  std::atomic<Clock::rep> last_{0};
  std::mutex mutex_;  // guards: has_uploads_
  std::condition_variable_any wake_;
  bool has_uploads_ = false;
  std::jthread thread_;
};

}  // namespace sonde::api
