/* Sonde's logging library for every language that can call C. The same rules as the C++ Writer
 * (writer.h): calls hand over and return, nothing throws, errors are reported once on stderr and on
 * demand. A function that returns int gives 1 when the record was taken and 0 when it was refused;
 * sonde_problem() then says why. Texts are UTF-8 with their length in bytes; arrays are dense and
 * row-major and are not kept after the call.
 *
 *   sonde_writer *w = sonde_open("logs/run1", NULL);
 *   sonde_scalar(w, "loss", 4, step, 0.25);
 *   sonde_close(w);
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_writer sonde_writer;

/* Zero or NULL in any field means its default. */
typedef struct sonde_options {
  size_t struct_size;      /* sizeof(sonde_options): lets the library grow */
  double flush_interval_s; /* 1 */
  size_t max_buffer_bytes; /* 64 MiB */
  int drop_when_full;      /* 0: a caller waits for a slow disk */
  const char *filename_suffix;
  int has_purge_step;
  int64_t purge_step;
} sonde_options;

/* Element types of arrays, numbered as TensorFlow's DataType. */
enum {
  SONDE_FLOAT32 = 1,
  SONDE_FLOAT64 = 2,
  SONDE_INT32 = 3,
  SONDE_UINT8 = 4,
  SONDE_INT16 = 5,
  SONDE_INT8 = 6,
  SONDE_INT64 = 9,
  SONDE_BOOL = 10,
  SONDE_BFLOAT16 = 14,
  SONDE_UINT16 = 17,
  SONDE_FLOAT16 = 19,
  SONDE_UINT32 = 22,
  SONDE_UINT64 = 23
};

typedef struct sonde_array {
  const void *data;
  int32_t type;
  int32_t rank;
  const int64_t *shape;
} sonde_array;

sonde_writer *sonde_open(const char *folder, const sonde_options *options);
void sonde_close(sonde_writer *writer); /* writes what is left and frees the writer */
int sonde_flush(sonde_writer *writer, int sync);

int sonde_scalar(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                 double value);
int sonde_scalar_at(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                    double value, double wall_time);
int sonde_text(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
               const char *markdown, size_t markdown_length);
int sonde_histogram(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                    const sonde_array *data, int buckets);
int sonde_image(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                const sonde_array *pixels, int max_outputs);
int sonde_video(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                const sonde_array *frames, double frames_per_s);
int sonde_audio(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                const sonde_array *samples, int sample_rate);
int sonde_tensor(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                 const sonde_array *data);
int sonde_graph(sonde_writer *writer, const void *graph_def, size_t length);

/* What a run was trained with, once a run: the row of the hyperparameter table. */
enum { SONDE_HPARAM_NUMBER = 0, SONDE_HPARAM_TEXT = 1, SONDE_HPARAM_BOOL = 2 };
typedef struct sonde_hparam {
  const char *name; /* ends with 0, as do the other texts of the calls below */
  int32_t kind;
  double number;    /* of a number; of a truth value 0 or 1 */
  const char *text; /* of a text */
} sonde_hparam;
/* Repetitions of one setting share a group name; NULL: the run stands for itself. */
int sonde_hparams(sonde_writer *writer, const sonde_hparam *values, size_t count,
                  const char *group_name);
/* Which columns the table has: the tags of its metrics. Once, in the folder above the runs. */
int sonde_hparams_config(sonde_writer *writer, const sonde_hparam *values, size_t count,
                         const char *const *metric_tags, size_t metric_count);
enum { SONDE_SUCCESS = 1, SONDE_FAILURE = 2, SONDE_RUNNING = 3 };
int sonde_hparams_end(sonde_writer *writer, int status);

/* Labels 0 or 1 and predictions from 0 to 1, as many as weights when those are given (or NULL). */
int sonde_pr_curve(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
                   const sonde_array *labels, const sonde_array *predictions,
                   const sonde_array *weights, int thresholds);
/* [n, 3] or [batch, n, 3] each; faces and colors (0 to 255) may be NULL, as may json_config
 * (camera, material). */
int sonde_mesh(sonde_writer *writer, const char *tag, size_t tag_length, int64_t step,
               const sonde_array *vertices, const sonde_array *faces, const sonde_array *colors,
               const char *json_config);
/* Rows of vectors for the projector. `cells` holds `columns` texts for each row, row after row;
 * one column needs no header. Columns 0: no metadata. Images [n, h, w, c] may be NULL. */
int sonde_embedding(sonde_writer *writer, const char *name, int64_t step,
                    const sonde_array *vectors, const char *const *header, const char *const *cells,
                    size_t columns, const sonde_array *images);

/* A serialized tensorflow.Summary, and a whole serialized tensorflow.Event. */
int sonde_summary(sonde_writer *writer, const void *summary, size_t length, int64_t step,
                  double wall_time);
int sonde_event(sonde_writer *writer, const void *event, size_t length);

/* Copies the current problem (empty when all is well), cut to `size` with its end mark; returns its
 * whole length. */
size_t sonde_problem(const sonde_writer *writer, char *text, size_t size);
uint64_t sonde_dropped(const sonde_writer *writer);
const char *sonde_version(void);

#ifdef __cplusplus
}
#endif
#endif
