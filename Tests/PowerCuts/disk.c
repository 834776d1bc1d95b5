// A disk that can lose its power: a file system with the one file "disk", for a loop device to lie on.
//
// usage: power-cut-disk IMAGE ALLOWED MOUNT-POINT
//
// What was written and not flushed since is remembered. A cut makes an image of what a disk with a volatile cache may
// have then: everything that was flushed, and of the rest all, nothing, or each sector or not. ALLOWED is a file that
// says what may be found; each image gets a copy of it beside it, with ".allowed" at its end.
//
// Lines written to the file "control":
//   cut PATH MODE SEED          makes an image now; MODE is "all", "lost" or "mixed"
//   every N LIMIT PREFIX SEED   makes one at every N-th write or flush from now on, PREFIX0, PREFIX1 …, LIMIT at most
//   stop                        ends that
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// So much a disk writes wholly or not.
enum { sector = 4096 };

struct written {
  off_t offset;
  size_t size;
  char *bytes;
};

static int stable;              // what survives for sure
static char *current;           // what is read
static off_t length;
static struct written *pending; // written since the last flush
static size_t pending_count, pending_room;
static const char *allowed;

static unsigned every, limit, events, images;
static char prefix[4096];
static uint64_t state;

static uint64_t next_random(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static void give_up(const char *what) {
  perror(what);
  exit(2);
}

static void write_whole(int file, const char *bytes, size_t size, off_t offset) {
  while (size > 0) {
    ssize_t count = pwrite(file, bytes, size, offset);
    if (count <= 0) give_up("write an image");
    bytes += count, size -= count, offset += count;
  }
}

static void copy_data(int from, int to) {
  static char buffer[1 << 20];
  off_t begin = 0;
  while ((begin = lseek(from, begin, SEEK_DATA)) >= 0) {
    off_t end = lseek(from, begin, SEEK_HOLE);
    while (begin < end) {
      ssize_t count = pread(from, buffer, end - begin < (off_t)sizeof buffer ? end - begin : (off_t)sizeof buffer, begin);
      if (count <= 0) give_up("read an image");
      write_whole(to, buffer, count, begin);
      begin += count;
    }
  }
}

static void copy_allowed(const char *path) {
  char name[4200], bytes[1 << 16];
  snprintf(name, sizeof name, "%s.allowed", path);
  int from = open(allowed, O_RDONLY), to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (from < 0 || to < 0) give_up(name);
  ssize_t count = read(from, bytes, sizeof bytes);
  if (count < 0) give_up(allowed);
  write_whole(to, bytes, count, 0);
  close(from);
  close(to);
}

static void cut(const char *path, const char *mode) {
  int image = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (image < 0 || ftruncate(image, length) != 0) give_up(path);
  copy_data(stable, image);
  for (size_t index = 0; index < pending_count && strcmp(mode, "lost") != 0; index++) {
    struct written *one = &pending[index];
    for (size_t position = 0, size; position < one->size; position += size) {
      size = sector - (one->offset + position) % sector;
      if (size > one->size - position) size = one->size - position;
      if (strcmp(mode, "mixed") == 0 && next_random() % 2) continue;
      write_whole(image, one->bytes + position, size, one->offset + position);
    }
  }
  close(image);
  copy_allowed(path);
}

static void note_event(void) {
  static const char *const modes[] = {"lost", "mixed", "all", "mixed"};
  if (every == 0 || images >= limit || events++ % every != 0) return;
  char path[4200];
  snprintf(path, sizeof path, "%s%u", prefix, images++);
  cut(path, modes[next_random() % 4]);
}

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *info) {
  (void)info;
  memset(status, 0, sizeof *status);
  bool is_root = strcmp(path, "/") == 0;
  if (!is_root && strcmp(path, "/disk") != 0 && strcmp(path, "/control") != 0) return -ENOENT;
  status->st_mode = is_root ? S_IFDIR | 0700 : S_IFREG | 0600;
  status->st_nlink = is_root ? 2 : 1;
  status->st_size = strcmp(path, "/disk") == 0 ? length : 0;
  return 0;
}

static int disk_open(const char *path, struct fuse_file_info *info) {
  (void)path;
  info->direct_io = 1;
  return 0;
}

static int disk_truncate(const char *path, off_t size, struct fuse_file_info *info) {
  (void)path, (void)size, (void)info;
  return 0;
}

static int disk_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (strcmp(path, "/disk") != 0 || offset >= length) return 0;
  if ((off_t)size > length - offset) size = length - offset;
  memcpy(buffer, current + offset, size);
  return (int)size;
}

static int obey(const char *bytes, size_t size) {
  char line[4200], path[4096], mode[16];
  snprintf(line, sizeof line, "%.*s", (int)size, bytes);
  if (sscanf(line, "cut %4095s %15s %lu", path, mode, &state) == 3) {
    cut(path, mode);
  } else if (sscanf(line, "every %u %u %4095s %lu", &every, &limit, prefix, &state) == 4) {
    events = images = 0;
  } else if (strncmp(line, "stop", 4) == 0) {
    every = 0;
  } else {
    return -EINVAL;
  }
  return (int)size;
}

static int disk_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (strcmp(path, "/control") == 0) return obey(bytes, size);
  if (offset + (off_t)size > length) return -ENOSPC;
  if (pending_count == pending_room) {
    pending_room = pending_room * 2 + 64;
    pending = realloc(pending, pending_room * sizeof *pending);
    if (pending == NULL) give_up("remember a write");
  }
  struct written one = {offset, size, malloc(size)};
  if (one.bytes == NULL) give_up("remember a write");
  memcpy(one.bytes, bytes, size);
  pending[pending_count++] = one;
  memcpy(current + offset, bytes, size);
  note_event();
  return (int)size;
}

static int disk_fsync(const char *path, int only_data, struct fuse_file_info *info) {
  (void)only_data, (void)info;
  if (strcmp(path, "/disk") != 0) return 0;
  // The power may go while the cache is being flushed.
  if (pending_count > 0) note_event();
  for (size_t index = 0; index < pending_count; index++) {
    write_whole(stable, pending[index].bytes, pending[index].size, pending[index].offset);
    free(pending[index].bytes);
  }
  bool had_any = pending_count > 0;
  pending_count = 0;
  if (had_any) note_event();
  return 0;
}

static int disk_readdir(
  const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
  enum fuse_readdir_flags flags
) {
  (void)path, (void)offset, (void)info, (void)flags;
  fill(buffer, "disk", NULL, 0, 0);
  fill(buffer, "control", NULL, 0, 0);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: power-cut-disk IMAGE ALLOWED MOUNT-POINT\n");
    return 2;
  }
  stable = open(arguments[1], O_RDWR);
  struct stat status;
  if (stable < 0 || fstat(stable, &status) != 0) give_up(arguments[1]);
  length = status.st_size;
  allowed = arguments[2];
  current = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, stable, 0);
  if (current == MAP_FAILED) give_up(arguments[1]);
  static const struct fuse_operations operations = {
    .getattr = disk_getattr, .open = disk_open, .truncate = disk_truncate, .read = disk_read, .write = disk_write,
    .fsync = disk_fsync, .readdir = disk_readdir,
  };
  // One thread: what happens at the disk has an order.
  char *options[] = {arguments[0], "-f", "-s", arguments[3], NULL};
  return fuse_main(4, options, &operations, NULL);
}
