// What a disk holds, and what a power cut leaves, for tests: killing a process alone loses nothing that it wrote.
//
// Below the directory POWER_CUT_ROOT every sync is noted: a synced file has its present bytes on the disk, a synced directory its
// present names. Nothing else is on the disk, as in the assumptions of Docs/Durability.md. At the cut the real directory
// gets what the disk holds. POWER_CUT says what becomes of the rest: "lost": nothing survives; "mixed:SEED": each changed
// name, and each changed block of 512 bytes, survives or doesn't, by the seed.
//
// A file is known by its inode number and when it was made, as file systems give the number of a deleted file to the next one.
//
// Of another process's syncs nothing is known. So whatever another process made below the root is taken to be on the disk, its
// name too: this process's cut costs only what this process did not sync.

#define _GNU_SOURCE
#include "power-cut.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK = 512 };

// A file, or a directory, that was seen: which inode has it now, whether this process may have written it, and what the disk
// holds of it.
struct object {
  unsigned device_major, device_minor;
  unsigned long long inode;
  struct statx_timestamp birth;
  int is_current;
  int is_directory;
  int is_ours;
  mode_t mode;
  char *bytes;
  size_t length;
  struct name *names;
  struct object *next;
};

struct name {
  char text[NAME_MAX + 1];
  struct object *object;
  struct name *next;
};

static char root[PATH_MAX];
static int is_mixed;
static unsigned long long seed;
static struct object *objects;

static int coin(void) {
  if (!is_mixed) return 0;
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return seed >> 63;
}

static int open_quietly(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static char *joined(const char *folder, const char *name) {
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  sprintf(path, "%s/%s", folder, name);
  return path;
}

static int look_at(int directory, const char *path, int flags, struct statx *status) {
  return statx(directory, path, flags, STATX_BASIC_STATS | STATX_BTIME, status);
}

static int look_at_open(int descriptor, struct statx *status) { return look_at(descriptor, "", AT_EMPTY_PATH, status); }

static struct object *object_with(const struct statx *status, int is_new) {
  for (struct object *object = objects; object; object = object->next) {
    if (!object->is_current || object->inode != status->stx_ino) continue;
    if (object->device_major != status->stx_dev_major || object->device_minor != status->stx_dev_minor) continue;
    if (!is_new && object->birth.tv_sec == status->stx_btime.tv_sec && object->birth.tv_nsec == status->stx_btime.tv_nsec)
      return object;
    object->is_current = 0;
  }
  struct object *object = calloc(1, sizeof *object);
  object->device_major = status->stx_dev_major;
  object->device_minor = status->stx_dev_minor;
  object->inode = status->stx_ino;
  object->birth = status->stx_btime;
  object->is_current = 1;
  object->is_directory = S_ISDIR(status->stx_mode);
  object->mode = status->stx_mode & 07777;
  object->next = objects;
  objects = object;
  return object;
}

static char *read_whole(int file, size_t *length) {
  struct stat status;
  if (fstat(file, &status) != 0) return 0;
  char *bytes = malloc((size_t)status.st_size + 1);
  size_t count = 0;
  while (count < (size_t)status.st_size) {
    ssize_t part = pread(file, bytes + count, (size_t)status.st_size - count, (off_t)count);
    if (part <= 0) break;
    count += (size_t)part;
  }
  *length = count;
  return bytes;
}

// The names in a directory now.
static struct name *names_in(const char *path) {
  struct name *names = 0;
  DIR *stream = opendir(path);
  if (!stream) return 0;
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    struct statx status;
    if (look_at(dirfd(stream), entry->d_name, AT_SYMLINK_NOFOLLOW, &status) != 0) continue;
    struct name *name = calloc(1, sizeof *name);
    strcpy(name->text, entry->d_name);
    name->object = object_with(&status, 0);
    name->next = names;
    names = name;
  }
  closedir(stream);
  return names;
}

static struct name *find(struct name *names, const char *text) {
  while (names && strcmp(names->text, text)) names = names->next;
  return names;
}

static struct object *named(struct name *names, const char *text) {
  struct name *name = find(names, text);
  return name ? name->object : 0;
}

// Notes that a file or directory is on the disk as it is now.
static void note(const char *path, struct object *object) {
  if (object->is_directory) {
    object->names = names_in(path);
    return;
  }
  int file = open_quietly(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return;
  free(object->bytes);
  object->bytes = read_whole(file, &object->length);
  syscall(SYS_close, file);
}

static void note_everything(const char *path, struct object *object) {
  note(path, object);
  for (struct name *name = object->names; name; name = name->next) {
    char *inner = joined(path, name->text);
    note_everything(inner, name->object);
    free(inner);
  }
}

static struct object *object_at(const char *path) {
  struct statx status;
  return look_at(AT_FDCWD, path, 0, &status) == 0 ? object_with(&status, 0) : 0;
}

void power_begin(void) {
  const char *way = getenv("POWER_CUT");
  const char *where = getenv("POWER_CUT_ROOT");
  if (!way || !where || strlen(where) >= sizeof root) return;
  strcpy(root, where);
  is_mixed = strncmp(way, "mixed:", 6) == 0;
  if (is_mixed) seed = strtoull(way + 6, 0, 10);
  struct object *object = object_at(root);
  if (object) note_everything(root, object);
}

// Whether a descriptor is of something below the root.
static int is_below_root(int descriptor) {
  if (!root[0]) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, root, strlen(root)) == 0;
}

void power_did_open(int descriptor, int is_new, int is_writable) {
  struct statx status;
  if (descriptor < 0 || !(is_new || is_writable) || !is_below_root(descriptor) || look_at_open(descriptor, &status) != 0)
    return;
  struct object *object = object_with(&status, is_new);
  if (object->is_directory || object->is_ours) return;
  if (!is_new) {
    // What it holds until now was written by somebody else, or in an earlier life.
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    note(path, object);
  }
  object->is_ours = 1;
}

void power_will_replace(int directory, const char *text) {
  struct statx status;
  if (!is_below_root(directory) || look_at(directory, text, AT_SYMLINK_NOFOLLOW, &status) != 0) return;
  struct object *object = object_with(&status, 0);
  if (object->is_ours || object->is_directory || look_at_open(directory, &status) != 0) return;
  struct object *folder = object_with(&status, 0);
  char path[64 + NAME_MAX + 2];
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, text);
  note(path, object);
  struct name *name = find(folder->names, text);
  if (!name) {
    name = calloc(1, sizeof *name);
    strncpy(name->text, text, NAME_MAX);
    name->next = folder->names;
    folder->names = name;
  }
  name->object = object;
}

void power_did_sync(int descriptor) {
  struct statx status;
  if (!is_below_root(descriptor) || look_at_open(descriptor, &status) != 0) return;
  char path[64];
  // Through /proc also a file without a name can be read, and one that was opened for writing.
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  note(path, object_with(&status, 0));
}

// What a file holds after the cut: the disk's bytes, with those blocks of the present ones that happen to have been written.
static void settle(const char *path, struct object *object) {
  int file = open_quietly(path, O_RDWR | O_NOFOLLOW);
  if (file < 0) return;
  size_t length = 0;
  char *bytes = read_whole(file, &length);
  size_t settled = object->length;
  if (length != settled && coin()) settled = length;
  char *result = calloc(1, settled + 1);
  for (size_t start = 0; start < settled; start += BLOCK) {
    size_t end = start + BLOCK < settled ? start + BLOCK : settled;
    int is_kept = coin();
    for (size_t at = start; at < end; at++)
      result[at] = is_kept ? (at < length ? bytes[at] : 0) : (at < object->length ? object->bytes[at] : 0);
  }
  if (settled != length || memcmp(result, bytes, settled) != 0) {
    syscall(SYS_pwrite64, file, result, settled, 0L);
    syscall(SYS_ftruncate, file, (long)settled);
  }
  free(bytes);
  free(result);
  syscall(SYS_close, file);
}

static void remove_whole(const char *path) {
  for (struct name *name = names_in(path); name; name = name->next) {
    char *inner = joined(path, name->text);
    remove_whole(inner);
    free(inner);
  }
  if (syscall(SYS_unlinkat, AT_FDCWD, path, 0) != 0) syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static void bring_back(const char *path, struct object *object) {
  if (object->is_directory) {
    mkdir(path, object->mode);
    for (struct name *name = object->names; name; name = name->next) {
      char *inner = joined(path, name->text);
      bring_back(inner, name->object);
      free(inner);
    }
    return;
  }
  int file = open_quietly(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file < 0) return;
  fchmod(file, object->mode);
  if (object->length) syscall(SYS_pwrite64, file, object->bytes, object->length, 0L);
  syscall(SYS_close, file);
}

static void settle_directory(const char *path, struct object *object) {
  struct name *present = names_in(path);
  for (struct name *name = present; name; name = name->next) {
    struct object *old = named(object->names, name->text);
    char *inner = joined(path, name->text);
    if (!name->object->is_directory && !name->object->is_ours) {
      // Another process's, or as it was found.
    } else if (old != name->object && !coin()) {
      remove_whole(inner);
      if (old) bring_back(inner, old);
    } else if (name->object->is_directory) {
      settle_directory(inner, name->object);
    } else {
      settle(inner, name->object);
    }
    free(inner);
  }
  for (struct name *name = object->names; name; name = name->next) {
    if (named(present, name->text) || coin()) continue;
    // Another process's file that another process took away.
    if (!name->object->is_directory && !name->object->bytes) continue;
    char *inner = joined(path, name->text);
    bring_back(inner, name->object);
    free(inner);
  }
}

void power_cut(void) {
  struct object *object = root[0] ? object_at(root) : 0;
  if (object) settle_directory(root, object);
}
