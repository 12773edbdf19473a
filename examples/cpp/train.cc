// Fits a line by gradient descent and logs the way there: train DIR
#include <sonde/writer.h>

#include <random>
#include <vector>

int main(int argc, char** argv) {
  sonde::Writer log(argc > 1 ? argv[1] : "logs/line");
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  double slope = 0, offset = 0;
  std::vector<double> errors;
  for (int64_t step = 0; step < 500; ++step) {
    const double x = noise(random) * 10, y = 3 * x - 1 + noise(random);
    const double error = slope * x + offset - y;
    slope -= 0.05 * error * x;
    offset -= 0.05 * error;
    errors.push_back(error);
    log.scalar("loss", step, error * error);
    if (step % 100 == 99) log.histogram("errors", step, sonde::array(errors));
  }
  log.text("result", 500, "y = **" + std::to_string(slope) + "** x + " + std::to_string(offset));
  return log.flush() ? 0 : 1;
}
