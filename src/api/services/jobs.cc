#include "api/services/jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "embed/axes.h"
#include "embed/pca.h"

namespace sonde::api::v1 {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenPositions = 50ms;  // a picture is copied out at most that often
constexpr auto kForgotten = 10min;

}  // namespace

std::string_view name_of(JobState state) {
  static constexpr std::string_view kNames[] = {"queued", "running", "paused",
                                                "done",   "failed",  "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

struct Jobs::Job {
  JobRequest request;
  JobStatus status;
  std::shared_ptr<const std::vector<float>> values;
  std::vector<float> start;  // positions to go on from
  embed::TsneControls controls;
  bool is_paused = false, is_cancelled = false;
  Clock::time_point asked = Clock::now(), stage_began{}, copied{};
};

Jobs::Jobs(std::function<void(const JobStatus&)> changed) : changed_(std::move(changed)) {}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, job] : jobs_) job->is_cancelled = true;
  }
  for (auto& runner : runners_) runner.request_stop();
  wake_.notify_all();
  runners_.clear();
}

void Jobs::start_threads() {
  // One core stays for the pages that look at the result.
  if (!pool_)
    pool_ = std::make_unique<ThreadPool>("project", std::max<size_t>(1, usable_cores() - 1), 5);
  while (runners_.size() < kRunning) {
    runners_.emplace_back([this](const std::stop_token& stop) {
      name_this_thread("projection");
      work(stop);
    });
  }
}

Result<std::shared_ptr<Jobs::Job>> Jobs::find(uint64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    return fail(Code::kNotFound, fmt::format("there is no job {}; GET jobs lists them, results are "
                                             "forgotten ten minutes after the last question",
                                             id));
  }
  found->second->asked = Clock::now();
  return found->second;
}

void Jobs::forget_old() {
  const auto now = Clock::now();
  std::erase_if(jobs_, [&](const auto& entry) {
    return entry.second->status.is_over() && now - entry.second->asked > kForgotten;
  });
  const auto bytes = [](const Job& job) { return job.values ? job.values->size() * 4 : 0; };
  while (true) {
    uint64_t sum = 0;
    auto oldest = jobs_.end();
    for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
      sum += bytes(*at->second);
      if (!at->second->status.is_over()) continue;
      if (oldest == jobs_.end() || at->second->asked < oldest->second->asked) oldest = at;
    }
    if ((sum <= kMostBytes && jobs_.size() <= kMostKept) || oldest == jobs_.end()) return;
    jobs_.erase(oldest);
  }
}

Result<JobStatus> Jobs::start(JobRequest request) {
  auto job = std::make_shared<Job>();
  const bool quick = request.is_quick();
  JobStatus status;
  {
    const std::lock_guard lock(mutex_);
    forget_old();
    for (const auto& [id, known] : jobs_) {
      const bool is_useful =
          known->status.state != JobState::kFailed && known->status.state != JobState::kCancelled;
      if (!is_useful || known->request.key != request.key || request.start != 0) continue;
      known->asked = Clock::now();
      return known->status;
    }
    if (!quick && waiting_.size() >= kMostWaiting)
      return fail(Code::kBusy, fmt::format("{} projections wait already", waiting_.size()));
    if (request.start != 0) {
      SONDE_TRY(const before, find(request.start));
      if (before->values) job->start = *before->values;
    }
    job->status.id = next_id_++;
    job->status.kind = request.kind;
    job->status.embedding = request.embedding->entry.id;
    job->status.rows = request.rows();
    job->controls.learning_rate = request.tsne.learning_rate;
    job->request = std::move(request);
    jobs_[job->status.id] = job;
    start_threads();
    if (!quick) waiting_.push_back(job);
    status = job->status;
  }
  changed_(status);
  if (quick) {
    compute(job);
  } else {
    wake_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  return job->status;
}

Result<JobStatus> Jobs::status(uint64_t id) {
  const std::lock_guard lock(mutex_);
  SONDE_TRY(const job, find(id));
  JobStatus status = job->status;
  const double seconds = std::chrono::duration<double>(Clock::now() - job->stage_began).count();
  if (status.state == JobState::kRunning && status.iteration > 0 && status.of > 0)
    status.eta_s = seconds / status.iteration * (status.of - status.iteration);
  return status;
}

Result<std::optional<JobPositions>> Jobs::positions(uint64_t id, uint64_t after) {
  const std::lock_guard lock(mutex_);
  SONDE_TRY(const job, find(id));
  std::optional<JobPositions> found;
  if (job->values && job->status.version > after) found = {job->status, job->values};
  return found;
}

Result<JobStatus> Jobs::change(uint64_t id, const JobChange& change) {
  JobStatus status;
  {
    const std::lock_guard lock(mutex_);
    SONDE_TRY(const job, find(id));
    if (change.paused && !job->status.is_over()) {
      job->is_paused = *change.paused;
      if (job->status.state == JobState::kRunning && job->is_paused)
        job->status.state = JobState::kPaused;
      if (job->status.state == JobState::kPaused && !job->is_paused)
        job->status.state = JobState::kRunning;
    }
    if (change.learning_rate) job->controls.learning_rate = *change.learning_rate;
    if (change.perturb > 0) job->controls.perturb = change.perturb;
    status = job->status;
  }
  wake_.notify_all();
  changed_(status);
  return status;
}

Result<JobStatus> Jobs::cancel(uint64_t id) {
  JobStatus status;
  {
    const std::lock_guard lock(mutex_);
    SONDE_TRY(const job, find(id));
    job->is_cancelled = true;
    std::erase(waiting_, job);
    // Said at once; the thread notices at its next round.
    if (!job->status.is_over()) job->status.state = JobState::kCancelled;
    status = job->status;
  }
  wake_.notify_all();
  changed_(status);
  return status;
}

std::vector<JobStatus> Jobs::list() {
  const std::lock_guard lock(mutex_);
  std::vector<JobStatus> all;
  for (const auto& [id, job] : jobs_) all.push_back(job->status);
  return all;
}

void Jobs::wait(uint64_t id) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return !jobs_.contains(id) || jobs_[id]->status.is_over(); });
}

void Jobs::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      job = waiting_.front();
      waiting_.pop_front();
    }
    compute(job);
  }
}

// Called by the projection; keeps what clients see, waits while paused, says whether to go on.
bool Jobs::report(Job& job, const char* stage, int iteration, int of,
                  std::span<const float> values) {
  std::unique_lock lock(mutex_);
  const auto now = Clock::now();
  if (job.status.stage != stage) {
    job.status.stage = stage;
    job.stage_began = now;
    job.status.iteration = 0;
  }
  // Blocks of rows end in any order.
  job.status.iteration = std::max(job.status.iteration, iteration);
  job.status.of = of;
  if (!values.empty() && (now - job.copied >= kBetweenPositions || iteration == of)) {
    job.copied = now;
    job.values = std::make_shared<const std::vector<float>>(values.begin(), values.end());
    job.status.columns = values.size() / std::max<size_t>(1, job.status.rows);
    ++job.status.version;
  }
  if (now - job.asked > kForgotten) job.is_cancelled = true;
  // Only the projection's own thread may rest: others serve the second job too.
  if (!values.empty()) wake_.wait(lock, [&] { return !job.is_paused || job.is_cancelled; });
  return !job.is_cancelled;
}

void Jobs::publish(Job& job, std::vector<float> values, size_t columns) {
  const std::lock_guard lock(mutex_);
  if (job.is_cancelled) return;
  job.status.columns = columns;
  job.values = std::make_shared<const std::vector<float>>(std::move(values));
  ++job.status.version;
}

void Jobs::finish(Job& job, JobState state, std::string error) {
  JobStatus status;
  {
    const std::lock_guard lock(mutex_);
    job.status.state = job.is_cancelled ? JobState::kCancelled : state;
    job.status.error = std::move(error);
    job.request.subset.shrink_to_fit();
    status = job.status;
  }
  wake_.notify_all();
  changed_(status);
}

void Jobs::compute(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (job->is_cancelled) return;
    job->status.state = job->is_paused ? JobState::kPaused : JobState::kRunning;
    job->stage_began = Clock::now();
  }
  const JobRequest& request = job->request;
  const embed::projector::Matrix& matrix = *request.embedding->matrix;
  const embed::Prepared prepared =
      embed::prepare(matrix.values, matrix.columns, request.subset, request.scaling);
  const embed::Progress progress{
      [&](const char* stage, int iteration, int of, std::span<const float> values) {
        return report(*job, stage, iteration, of, values);
      }};
  {
    const std::lock_guard lock(mutex_);
    job->status.replaced = prepared.replaced;
  }
  if (request.kind == JobKind::kPca) {
    embed::Components found =
        embed::pca(prepared.points, request.components, *pool_, without_positions(progress));
    {
      const std::lock_guard lock(mutex_);
      job->status.explained = std::move(found.explained);
    }
    publish(*job, std::move(found.positions), found.count);
  } else if (request.kind == JobKind::kCustom) {
    const embed::Axis axes[2] = {{request.ends[0], request.ends[1]},
                                 {request.ends[3], request.ends[2]}};
    {
      const std::lock_guard lock(mutex_);
      for (size_t i = 0; i < 4; ++i) job->status.matches[i] = request.ends[i].size();
    }
    publish(*job, embed::along_axes(prepared.points, matrix.values, axes), 2);
  } else {
    const bool is_tsne = request.kind == JobKind::kTsne;
    embed::Projection found = is_tsne
                                  ? embed::tsne(prepared.points, request.tsne, *pool_, progress,
                                                job->start, &job->controls)
                                  : embed::umap(prepared.points, request.umap, *pool_, progress);
    {
      const std::lock_guard lock(mutex_);
      job->status.neighbours_exact = found.neighbours_exact;
      job->status.neighbours_recall = found.neighbours_recall;
      job->status.cost = found.final_cost;
    }
    publish(*job, std::move(found.positions), static_cast<size_t>(found.dims));
  }
  finish(*job, JobState::kDone);
}

}  // namespace sonde::api::v1
