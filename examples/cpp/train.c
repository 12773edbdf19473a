/* The same library from C: train_c DIR */
#include <sonde/sonde.h>

#include <string.h>

int main(int argc, char **argv) {
  sonde_writer *log = sonde_open(argc > 1 ? argv[1] : "logs/c", NULL);
  const char *tag = "square";
  for (int64_t step = 0; step < 100; ++step) sonde_scalar(log, tag, strlen(tag), step, (double)(step * step));
  float data[] = {0, 1, 2, 3, 4};
  int64_t shape[] = {5};
  sonde_array array = {data, SONDE_FLOAT32, 1, shape};
  sonde_histogram(log, "data", 4, 100, &array, 5);
  int written = sonde_flush(log, 0);
  sonde_close(log);
  return written ? 0 : 1;
}
