// How many scalars a second sonde::Writer sustains to a local file: writer_throughput DIR COUNT
// Build: c++ -O2 -std=c++20 -I include bench/writer_throughput.cc -L build/release -lsonde -o
// /tmp/writer_throughput
#include <sonde/writer.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

double cpu_s() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t count = std::atoll(argv[2]);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const double cpu = cpu_s();
  sonde::Writer log(argv[1]);
  for (int64_t step = 0; step < count; ++step) log.scalar("train/loss", step, 0.5);
  const double calls_s = std::chrono::duration<double>(Clock::now() - start).count();
  if (!log.flush()) return 1;
  const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  const double used_s = cpu_s() - cpu;
  std::printf("%lld scalars: calls %.2f s, written %.2f s = %.2f M/s; CPU %.3f us a scalar\n",
              static_cast<long long>(count), calls_s, wall_s,
              static_cast<double>(count) / wall_s * 1e-6,
              used_s / static_cast<double>(count) * 1e6);
  return 0;
}
