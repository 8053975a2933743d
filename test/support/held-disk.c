/*
 * Preloaded into a process, it lets no sync of a file return while the file HELD_DISK is there, and makes the file
 * HELD_DISK.begun when one waits. While the file HELD_DISK.broken is there each sync fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there(const char *name, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", name, ending);
  return access(path, F_OK) == 0;
}

static int disk_works(void) {
  const char *name = getenv("HELD_DISK");
  const struct timespec while_held = {0, 1000000};
  if (name == NULL) return 1;
  while (there(name, "")) {
    char begun[4096];
    snprintf(begun, sizeof begun, "%s.begun", name);
    close(open(begun, O_CREAT | O_WRONLY, 0600));
    nanosleep(&while_held, NULL);
  }
  return !there(name, ".broken");
}

static int sync_by(const char *call, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
  if (disk_works()) return real(fd);
  errno = EIO;
  return -1;
}

int fsync(int fd) { return sync_by("fsync", fd); }

int fdatasync(int fd) { return sync_by("fdatasync", fd); }
