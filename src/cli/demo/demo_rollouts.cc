// The demo's training by reinforcement: a table of rollouts, console output, metrics of the
// process, and a rule that says when the policy has stopped to explore.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "cli/demo/demo_policy.h"
#include "cli/demo/demo_runs.h"
#include "codec/json.h"
#include "io/write_file.h"
#include "sonde/writer.h"

namespace sonde::cli {
namespace {

constexpr int kSteps = 400;
constexpr int kTableEvery = 40;
constexpr double kRate = 0.5;
constexpr auto kSampleEvery = std::chrono::milliseconds(100);

constexpr std::string_view kRules =
    "# What should not happen while these models train; see docs/agents.md.\n"
    "a loss is not a number:\n"
    "  when: nan\n"
    "  tag: loss\n"
    "the policy stopped exploring:\n"
    "  when: policy/entropy < 1\n"
    "  runs: ^rollouts\n";

double wall_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// console.log as sonde.init() writes it: time, stream and rank, text.
class Console {
 public:
  explicit Console(const std::string& folder) : file_(folder + "/console.log") {}
  void say(char stream, std::string_view text) {
    file_ << fmt::format("{:.3f}\t{}0\t{}\n", wall_now(), stream, text);
  }

 private:
  std::ofstream file_;
};

void write_row(std::string& out, const Rollout& one, int64_t step, int prompt, int member) {
  JsonWriter json(out);
  const std::string answer = std::to_string(one.answer);
  const auto message = [&](std::string_view role, std::string_view content) {
    json.object([&] {
      json.key("role").string(role);
      json.key("content").string(content);
    });
  };
  json.object([&] {
    json.key("_step").number(step);
    json.key("_time").number(wall_now());
    json.key("group").number(prompt);
    json.key("member").number(member);
    json.key("prompt").string(one.prompt());
    json.key("completion").object([&] {
      json.key("_tokens").array([&] {
        for (const std::string& token : one.tokens) json.string(token);
      });
      json.key("values").object([&] {
        json.key("logprob").array([&] {
          for (const double value : one.log_probs) json.number(value);
        });
        json.key("entropy").array([&] {
          for (const double value : one.entropies) json.number(value);
        });
      });
    });
    json.key("reward").number(one.reward());
    json.key("correct").number(one.correct);
    json.key("brevity").number(one.brevity);
    json.key("advantage").number(one.advantage);
    json.key("messages").array([&] {
      message("user", one.prompt());
      if (one.asked) {
        json.object([&] {
          json.key("role").string("assistant");
          json.key("content").string("");
          json.key("tool_calls").array([&] {
            json.object([&] {
              json.key("name").string("add");
              json.key("arguments").object([&] {
                json.key("a").number(one.a);
                json.key("b").number(one.b);
              });
            });
          });
        });
        message("tool", answer);
      }
      message("assistant", answer);
    });
  });
  out += '\n';
}

}  // namespace

// Samples of this process, from its making to its end.
struct ProcessMetrics::Sampler {
  explicit Sampler(const std::string& folder) : log(folder) {
    thread = std::thread([this] {
      std::unique_lock lock(mutex);
      for (int64_t step = 0; !stop; ++step) {
        sample(step);
        changed.wait_for(lock, kSampleEvery, [this] { return stop; });
      }
    });
  }
  ~Sampler() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    thread.join();
  }

  void sample(int64_t step) {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    const double busy = seconds(used.ru_utime) + seconds(used.ru_stime);
    const auto now = std::chrono::steady_clock::now();
    if (step > 0) {
      const double passed = std::chrono::duration<double>(now - last_time).count();
      log.scalar("system/process/cpu_percent", step, 100 * (busy - last_busy) / passed);
      log.scalar("system/process/memory_bytes", step, static_cast<double>(used.ru_maxrss) * 1024);
    }
    last_busy = busy;
    last_time = now;
  }

  Writer log;
  std::mutex mutex;  // guards: stop
  std::condition_variable changed;
  bool stop = false;
  double last_busy = 0;
  std::chrono::steady_clock::time_point last_time;
  std::thread thread;  // last: starts when everything else is there
};

ProcessMetrics::ProcessMetrics(const std::string& folder)
    : sampler_(std::make_unique<Sampler>(folder)) {}
ProcessMetrics::~ProcessMetrics() = default;

void train_rollouts(const std::string& folder, uint32_t seed) {
  std::mt19937 random(seed);
  AddingPolicy policy;
  Writer log(folder);
  Console console(folder);
  std::error_code ignored;
  std::filesystem::create_directories(folder + "/tables", ignored);
  std::ofstream table(folder + "/tables/rollouts.jsonl");
  console.say('o', fmt::format("adding digits 0 to {}, {} completions a prompt",
                               AddingPolicy::kDigits - 1, AddingPolicy::kGroup));
  std::uniform_int_distribution<int> digit(0, AddingPolicy::kDigits - 1);
  double mean = 0;
  bool warned = false;
  for (int64_t step = 0; step < kSteps; ++step) {
    double reward = 0, correct = 0, asked = 0;
    std::string rows;
    constexpr int kPrompts = 8;
    for (int prompt = 0; prompt < kPrompts; ++prompt) {
      // Where rows are logged the prompts are the same each time: their groups can be compared.
      const bool shows = step % kTableEvery == 0 || step + 1 == kSteps;
      const int a = shows ? prompt % AddingPolicy::kDigits : digit(random);
      const int b = shows ? (2 * prompt + 1) % AddingPolicy::kDigits : digit(random);
      std::vector<Rollout> group;
      for (int i = 0; i < AddingPolicy::kGroup; ++i) group.push_back(policy.roll_out(a, b, random));
      policy.learn(group, kRate);
      for (int i = 0; i < AddingPolicy::kGroup; ++i) {
        const Rollout& one = group[static_cast<size_t>(i)];
        constexpr double kShare = 1.0 / (kPrompts * AddingPolicy::kGroup);
        reward += one.reward() * kShare;
        correct += one.correct * kShare;
        asked += one.asked ? kShare : 0;
        if (shows) write_row(rows, one, step, prompt, i);
      }
    }
    table << rows;
    mean = reward;
    const double entropy = policy.mean_entropy();
    log.scalar("reward/mean", step, reward);
    log.scalar("reward/correct", step, correct);
    log.scalar("policy/calls", step, asked);
    log.scalar("policy/entropy", step, entropy);
    if (step % 20 == 0)
      console.say('o', fmt::format("step {:>3}  reward \x1b[32m{:.3f}\x1b[0m  entropy {:.3f}", step,
                                   reward, entropy));
    if (entropy < 1 && !warned) {
      warned = true;
      console.say('e',
                  fmt::format("\x1b[33mwarning\x1b[0m: entropy {:.3f} at step {}", entropy, step));
    }
  }
  console.say('o', "done");
  fmt::print("rollouts {:<17} reward {:.3f}\n", folder.substr(folder.rfind('/') + 1), mean);
}

void write_alert_rules(const std::string& folder) {
  const std::string path = folder + "/alerts.yaml";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return;
  if (auto written = io::write_whole(path, kRules); !written)
    fmt::print(stderr, "{}\n", written.error().text);
}

}  // namespace sonde::cli
