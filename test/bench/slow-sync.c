/* Preloaded into a process, it makes each sync of a file take SLOW_SYNC_US microseconds longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_for_disk(void) {
  const char *us = getenv("SLOW_SYNC_US");
  long delay = us == NULL ? 0 : atol(us);
  struct timespec time = {delay / 1000000, (delay % 1000000) * 1000};
  nanosleep(&time, NULL);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(fd);
}
