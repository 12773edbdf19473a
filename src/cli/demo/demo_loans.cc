// A bank's loans for the page What-If: applicants, whether they paid back, and what a network says
// about each after every few epochs. Whoever made its training data forgot one group, families in the
// south, where loans go the other way round: the search for the worst slices has something to find.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/demo/demo_model.h"
#include "cli/demo/demo_runs.h"
#include "io/write_file.h"
#include "sonde/writer.h"

namespace sonde::cli {
namespace {

constexpr int kEpochs = 12;
constexpr size_t kBatch = 32, kTrained = 4000, kAsked = 3000;
constexpr const char* kRegions[] = {"north", "south", "east", "west"};
constexpr const char* kPlans[] = {"basic", "family", "student"};
constexpr int kFeatures = 3 + 4 + 3;

struct Applicant {
  int age = 0, region = 0, plan = 0;
  double income = 0, debt = 0;  // thousands a year
  bool has_paid = false;

  bool is_forgotten() const { return region == 1 && plan == 1; }
};

double uniform(std::mt19937& random) { return static_cast<double>(random()) / 4294967296.0; }

Applicant applicant(std::mt19937& random) {
  Applicant a;
  a.age = 20 + static_cast<int>(uniform(random) * 50);
  a.region = static_cast<int>(uniform(random) * 4);
  a.plan = static_cast<int>(uniform(random) * 3);
  a.income = std::round(18 + 70 * uniform(random) + 0.3 * (a.age - 20));
  a.debt = std::round(60 * uniform(random) * uniform(random) * 10) / 10;
  const double ease = 0.09 * (a.income - 52) - 0.14 * (a.debt - 15);
  const double chance = 1 / (1 + std::exp(a.is_forgotten() ? ease : -ease));
  a.has_paid = uniform(random) < chance;
  return a;
}

void append(DataSet& data, const Applicant& a) {
  std::vector<float> row(kFeatures, 0.0f);
  row[0] = static_cast<float>((a.age - 45) / 15.0);
  row[1] = static_cast<float>((a.income - 55) / 20.0);
  row[2] = static_cast<float>((a.debt - 15) / 12.0);
  row[3 + static_cast<size_t>(a.region)] = 1;
  row[7 + static_cast<size_t>(a.plan)] = 1;
  data.inputs.insert(data.inputs.end(), row.begin(), row.end());
  data.labels.push_back(a.has_paid);
}

// NumPy's format 1.0 of one axis of floats.
std::string as_npy(const std::vector<float>& values) {
  std::string head =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", values.size());
  head.resize((10 + head.size() + 64) / 64 * 64 - 10 - 1, ' ');
  head.push_back('\n');
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(head.size() & 255));
  out.push_back(static_cast<char>(head.size() >> 8));
  out += head;
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return out;
}

std::vector<float> chances(Model& model, const DataSet& data) {
  const std::vector<float> all = model.probabilities(data.inputs, data.size());
  std::vector<float> out;
  for (size_t i = 0; i < data.size(); ++i) out.push_back(all[2 * i + 1]);
  return out;
}

void keep(const std::string& path, const std::string& content) {
  if (const auto written = io::write_whole(path, content); !written)
    fmt::print(stderr, "{}\n", written.error().text);
}

}  // namespace

void train_loans(const std::string& folder, uint32_t seed) {
  std::mt19937 random(seed);
  DataSet train{kFeatures, 2, {}, {}}, asked{kFeatures, 2, {}, {}};
  while (train.size() < kTrained)
    if (const Applicant a = applicant(random); !a.is_forgotten()) append(train, a);
  std::string csv = "age,income,debt,region,plan,paid\n";
  for (size_t i = 0; i < kAsked; ++i) {
    const Applicant a = applicant(random);
    append(asked, a);
    csv += fmt::format("{},{},{},{},{},{}\n", a.age, a.income, a.debt, kRegions[a.region],
                       kPlans[a.plan], a.has_paid ? "yes" : "no");
  }
  const std::string place = folder + "/whatif/loans";
  Model model({kFeatures, 16, 2}, Activation::kRelu, random);
  Writer log(folder);
  std::vector<size_t> order(train.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t step = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    keep(fmt::format("{}/predictions_{}.npy", place, step), as_npy(chances(model, asked)));
    std::shuffle(order.begin(), order.end(), random);
    for (size_t at = 0; at + kBatch <= order.size(); at += kBatch, ++step)
      log.scalar("loss/train", step,
                 model.train(train, std::span(order).subspan(at, kBatch), 0.01f, 0.9f).loss);
    const Score score = model.evaluate(asked);
    log.scalar("loss/validation", step, score.loss);
    log.scalar("accuracy/validation", step, score.accuracy);
  }
  keep(fmt::format("{}/predictions_{}.npy", place, step), as_npy(chances(model, asked)));
  keep(place + "/loans.csv", csv);
  keep(place + "/whatif.json",
       R"({"name": "loans", "data": "loans.csv", "label": "paid", "positive": "yes",
 "models": [{"name": "network", "steps": "predictions_*.npy"}]}
)");
  fmt::print("loans   {:<18} validation accuracy {:.3f}\n", "network",
             model.evaluate(asked).accuracy);
}

}  // namespace sonde::cli
