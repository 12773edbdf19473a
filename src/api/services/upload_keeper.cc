#include "api/services/upload_keeper.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace sonde::api {

UploadKeeper::UploadKeeper(std::chrono::milliseconds keep, std::function<size_t()> clients,
                           std::function<void()> forget)
    : keep_(keep), clients_(std::move(clients)), forget_(std::move(forget)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

UploadKeeper::~UploadKeeper() = default;  // the thread is stopped and joined first

void UploadKeeper::note_upload() {
  note_request();
  const std::lock_guard lock(mutex_);
  has_uploads_ = true;
  wake_.notify_all();
}

void UploadKeeper::watch(const std::stop_token& stop) {
  name_this_thread("uploads");
  const auto look =
      std::clamp(keep_ / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(10'000));
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait(lock, stop, [&] { return has_uploads_; });
    wake_.wait_for(lock, stop, look, [] { return false; });
    if (!has_uploads_ || stop.stop_requested()) continue;
    lock.unlock();
    if (clients_() > 0) note_request();  // a page is open
    const Clock::time_point last{Clock::duration(last_.load())};
    const bool is_over = Clock::now() - last >= keep_;
    if (is_over) forget_();
    lock.lock();
    if (is_over) has_uploads_ = false;
  }
}

}  // namespace sonde::api
