#include "api/services/jobs.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codec/json_read.h"

namespace sonde::api::v1 {
namespace {

std::shared_ptr<const LoadedEmbedding> random_points(size_t rows, size_t dims) {
  auto matrix = std::make_shared<embed::projector::Matrix>();
  matrix->rows = rows;
  matrix->columns = dims;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < rows * dims; ++i) matrix->values.push_back(normal(random));
  auto loaded = std::make_shared<LoadedEmbedding>();
  loaded->entry.id = "test";
  loaded->entry.shape = {static_cast<uint32_t>(rows), static_cast<uint32_t>(dims)};
  loaded->matrix = std::move(matrix);
  return loaded;
}

JobRequest asked(const char* body, std::shared_ptr<const LoadedEmbedding> points) {
  auto request = job_request(*read_json(body), std::move(points));
  REQUIRE(request);
  return std::move(*request);
}

}  // namespace

TEST_CASE("jobs: t-SNE and UMAP end with positions and say how good their neighbours are") {
  Jobs jobs([](const JobStatus&) {});
  const auto points = random_points(200, 6);
  for (const char* body : {R"({"kind":"tsne","params":{"dims":2,"perplexity":5,"iterations":60}})",
                           R"({"kind":"umap","params":{"dims":3,"epochs":30}})"}) {
    const auto started = jobs.start(asked(body, points));
    REQUIRE(started);
    jobs.wait(started->id);
    const auto status = jobs.status(started->id);
    REQUIRE(status);
    CHECK(status->state == JobState::kDone);
    const auto found = jobs.positions(started->id, 0);
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->status.neighbours_exact);
    CHECK((*found)->values->size() == 200 * (*found)->status.columns);
    for (const float value : *(*found)->values) REQUIRE(std::isfinite(value));
    CHECK_FALSE(*jobs.positions(started->id, (*found)->status.version));
    CHECK(jobs.start(asked(body, points))->id == started->id);  // the same question
  }
}

TEST_CASE("jobs: a running job pauses, goes on, and is cancelled at once") {
  Jobs jobs([](const JobStatus&) {});
  const auto started =
      jobs.start(asked(R"({"kind":"tsne","params":{"iterations":100000}})", random_points(300, 4)));
  REQUIRE(started);
  while (jobs.status(started->id)->version == 0) std::this_thread::yield();
  CHECK(jobs.change(started->id, {.paused = true})->state == JobState::kPaused);
  const auto at = [&] { return jobs.status(started->id)->iteration; };
  // One round may have been under way; after it nothing moves.
  int before = at();
  for (int i = 0; i < 200; ++i) std::this_thread::yield();
  before = at();
  CHECK(at() <= before + 1);
  CHECK(jobs.change(started->id, {.paused = false, .learning_rate = 3, .perturb = 2})->state ==
        JobState::kRunning);
  while (at() < before + 5) std::this_thread::yield();
  CHECK(jobs.cancel(started->id)->state == JobState::kCancelled);
  CHECK(jobs.status(started->id)->state == JobState::kCancelled);
}

TEST_CASE("jobs: two run, sixteen wait, the next is told to come later") {
  Jobs jobs([](const JobStatus&) {});
  const auto points = random_points(300, 4);
  std::vector<uint64_t> ids;
  Code refused = Code::kInvalid;
  for (int i = 0; i < 30 && refused != Code::kBusy; ++i) {
    const std::string body =
        R"({"kind":"tsne","params":{"iterations":100000,"seed":)" + std::to_string(i) + "}}";
    const auto started = jobs.start(asked(body.c_str(), points));
    if (started) {
      ids.push_back(started->id);
    } else {
      refused = started.error().code;
    }
  }
  CHECK(refused == Code::kBusy);
  CHECK(ids.size() >= 16);
  CHECK(ids.size() <= 18);
  for (const uint64_t id : ids) CHECK(jobs.cancel(id));
}

TEST_CASE("jobs: PCA of a part of the rows, and what cannot be asked") {
  Jobs jobs([](const JobStatus&) {});
  const auto points = random_points(50, 4);
  const auto done = jobs.start(asked(R"({"kind":"pca","subset":[5,1,7]})", points));
  REQUIRE(done);
  CHECK(done->state == JobState::kDone);
  const auto found = *jobs.positions(done->id, 0);
  CHECK(found->values->size() == 9);  // three components of three rows
  double sum = 0;
  for (const double share : found->status.explained) sum += share;
  CHECK(sum == doctest::Approx(1));

  const auto large = std::make_shared<LoadedEmbedding>(*points);
  auto matrix = std::make_shared<embed::projector::Matrix>();
  matrix->rows = 40'000'000;  // never touched
  matrix->columns = 50;
  large->matrix = matrix;
  const auto refused = job_request(*read_json(R"({"kind":"tsne"})"), large);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kTooLarge);
  CHECK(jobs.positions(99, 0).error().code == Code::kNotFound);
}

}  // namespace sonde::api::v1
