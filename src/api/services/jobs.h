// Projections that take a while: two run at a time on threads of their own, the rest wait in line.
// A client reads positions while they come, pauses, changes or cancels. Results stay until nobody
// has asked for them for ten minutes. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/services/job_request.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace sonde::api::v1 {

enum class JobState : uint8_t { kQueued, kRunning, kPaused, kDone, kFailed, kCancelled };
std::string_view name_of(JobState state);

struct JobStatus {
  uint64_t id = 0;
  JobKind kind = JobKind::kPca;
  std::string embedding;  // id
  JobState state = JobState::kQueued;
  std::string stage;  // "neighbours", "components", "optimising"
  int iteration = 0, of = 0;
  uint64_t version = 0;  // of the positions; 0 = none yet
  double eta_s = -1;     // negative: not known
  std::string error;

  // Of the positions.
  size_t rows = 0, columns = 0;
  std::vector<double> explained;    // PCA: share of the variance a component
  std::array<size_t, 4> matches{};  // custom: rows of each end
  bool neighbours_exact = true;     // of the neighbours that t-SNE and UMAP start from
  double neighbours_recall = 1;     // share of true neighbours, measured, when not exact
  double cost = 0;                  // t-SNE: Kullback-Leibler divergence at the end
  size_t replaced = 0;              // values that were not finite and were taken as zero
  bool is_over() const { return state >= JobState::kDone; }
};

struct JobPositions {
  JobStatus status;
  std::shared_ptr<const std::vector<float>> values;  // rows * columns
};

struct JobChange {
  std::optional<bool> paused = {};
  std::optional<double> learning_rate = {};
  int perturb = 0;  // rounds
};

class Jobs {
 public:
  // `changed` is told whenever a job changes its state.
  explicit Jobs(std::function<void(const JobStatus&)> changed);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // An earlier job that answers the same question is given again. kBusy when too many wait.
  Result<JobStatus> start(JobRequest request);
  Result<JobStatus> status(uint64_t id);
  // Nothing when there are no positions newer than version `after`.
  Result<std::optional<JobPositions>> positions(uint64_t id, uint64_t after);
  Result<JobStatus> change(uint64_t id, const JobChange& change);
  Result<JobStatus> cancel(uint64_t id);
  std::vector<JobStatus> list();

  // Waits until a job is over; for tests.
  void wait(uint64_t id);

 private:
  using Clock = std::chrono::steady_clock;
  struct Job;

  void work(const std::stop_token& stop);
  void compute(const std::shared_ptr<Job>& job);
  bool report(Job& job, const char* stage, int iteration, int of, std::span<const float> values);
  void finish(Job& job, JobState state, std::string error = "");
  void publish(Job& job, std::vector<float> values, size_t columns);
  void forget_old();                               // with the lock held
  Result<std::shared_ptr<Job>> find(uint64_t id);  // with the lock held
  void start_threads();                            // with the lock held

  static constexpr size_t kRunning = 2, kMostWaiting = 16, kMostKept = 32;
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;

  std::function<void(const JobStatus&)> changed_;
  std::mutex mutex_;  // guards: jobs_, waiting_, next_id_, runners_, what Job says
  std::condition_variable_any wake_;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;
  std::deque<std::shared_ptr<Job>> waiting_;
  uint64_t next_id_ = 1;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<std::jthread> runners_;
};

}  // namespace sonde::api::v1
