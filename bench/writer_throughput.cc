// How many scalars a second sonde::Writer sustains to a local file:
//   writer_throughput DIR COUNT [THREADS]
// bench/writers.py builds it against build/release/libsonde.so and runs it. The last line is for
// programs: scalars a second, CPU seconds a scalar over all threads, bytes.
#include <sonde/writer.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

double cpu_s() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: writer_throughput DIR COUNT [THREADS]\n");
    return 2;
  }
  const int64_t threads = argc > 3 ? std::max(1, std::atoi(argv[3])) : 1;
  const int64_t count = std::atoll(argv[2]) / threads * threads;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const double cpu = cpu_s();
  sonde::Writer log(argv[1]);
  const auto loop = [&](const std::string& tag) {
    for (int64_t step = 0; step < count / threads; ++step) log.scalar(tag, step, 0.5);
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(loop, "train/los" + std::to_string(t));
  loop("train/loss");
  for (auto& other : others) other.join();
  const double calls_s = std::chrono::duration<double>(Clock::now() - start).count();
  if (!log.flush() || log.dropped() != 0) return 1;
  const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  const double used_s = cpu_s() - cpu;
  const auto n = static_cast<double>(count);
  std::printf("%.0f scalars: calls %.2f s, written %.2f s\n", n, calls_s, wall_s);
  std::printf("%.0f %.4g %ju\n", n / wall_s, used_s / n, std::filesystem::file_size(log.path()));
  return 0;
}
