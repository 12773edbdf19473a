/* What the compiler's own libraries and ours ask of glibc and 2.28 does not have yet. Linked into programs that are made for old
 * systems (tools/old_glibc); on a newer system these are used as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* libstdc++ counts references without atomics while this is 1; 0 is always right. */
char __libc_single_threaded = 0;

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

uint32_t arc4random(void) {
  uint32_t value = 0;
  for (size_t have = 0; have < sizeof value;) {
    const ssize_t n = getrandom((char *)&value + have, sizeof value - have, 0);
    if (n < 0 && errno != EINTR) abort(); /* as glibc's own does: a guess would be worse */
    if (n > 0) have += (size_t)n;
  }
  return value;
}

/* Waits as long as the given clock says, by the clock that conditions know. */
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  struct timespec now, end;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(cond, mutex, until);
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &end) != 0) return errno;
  const int64_t second = 1000000000;
  int64_t left = (until->tv_sec - now.tv_sec) * second + (until->tv_nsec - now.tv_nsec);
  if (left < 0) left = 0;
  left += end.tv_nsec;
  end.tv_sec += left / second;
  end.tv_nsec = left % second;
  return pthread_cond_timedwait(cond, mutex, &end);
}

/* Where the tables for unwinding a stack lie; libgcc asks for each frame of an exception. */
struct found {
  uintptr_t pc;
  struct dl_find_object *out;
};

static int look_in(struct dl_phdr_info *info, size_t size, void *data) {
  struct found *found = data;
  const ElfW(Phdr) *table = NULL;
  int inside = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = part;
    if (part->p_type == PT_LOAD && found->pc >= start && found->pc < start + part->p_memsz) {
      inside = 1;
      found->out->dlfo_map_start = (void *)start;
      found->out->dlfo_map_end = (void *)(start + part->p_memsz);
    }
  }
  if (!inside || table == NULL) return 0;
  found->out->dlfo_eh_frame = (void *)(info->dlpi_addr + table->p_vaddr);
  return 1;
}

int _dl_find_object(void *pc, struct dl_find_object *out) {
  struct found found = {(uintptr_t)pc, out};
  memset(out, 0, sizeof *out);
  return dl_iterate_phdr(look_in, &found) == 1 ? 0 : -1;
}
