// The part of libsystemd's sd-bus that DesktopSession calls, found when the program runs.
//
// The library is opened with dlopen, so that the package builds and its programs start where there is none; libelogind and
// libbasu have the same calls. `.ci/desktop` compares every declaration here with the real header: see CSYSTEMD_VERIFY.
#ifndef STATE_RESTORATION_CSYSTEMD_H
#define STATE_RESTORATION_CSYSTEMD_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef CSYSTEMD_VERIFY
#include <systemd/sd-bus.h>
typedef sd_bus_error csystemd_error;
#else
typedef struct {
  const char *name;
  const char *message;
  int need_free;
} csystemd_error;
#endif

typedef struct sd_bus csystemd_bus;
typedef struct sd_bus_message csystemd_message;
typedef struct sd_bus_slot csystemd_slot;
typedef int (*csystemd_handler)(csystemd_message *message, void *data, csystemd_error *error);

// Each function: result, name, parameters.
#define CSYSTEMD_FUNCTIONS(X)                                                                                             \
  X(int, sd_bus_new, (csystemd_bus **))                                                                                   \
  X(int, sd_bus_open_system, (csystemd_bus **))                                                                           \
  X(int, sd_bus_open_user, (csystemd_bus **))                                                                             \
  X(int, sd_bus_set_address, (csystemd_bus *, const char *))                                                              \
  X(int, sd_bus_set_bus_client, (csystemd_bus *, int))                                                                    \
  X(int, sd_bus_negotiate_fds, (csystemd_bus *, int))                                                                     \
  X(int, sd_bus_set_method_call_timeout, (csystemd_bus *, uint64_t))                                                      \
  X(int, sd_bus_start, (csystemd_bus *))                                                                                  \
  X(csystemd_bus *, sd_bus_close_unref, (csystemd_bus *))                                                                 \
  X(int, sd_bus_is_ready, (csystemd_bus *))                                                                               \
  X(int, sd_bus_get_unique_name, (csystemd_bus *, const char **))                                                         \
  X(int, sd_bus_get_fd, (csystemd_bus *))                                                                                 \
  X(int, sd_bus_get_events, (csystemd_bus *))                                                                             \
  X(int, sd_bus_get_timeout, (csystemd_bus *, uint64_t *))                                                                \
  X(int, sd_bus_process, (csystemd_bus *, csystemd_message **))                                                           \
  X(int, sd_bus_call_async,                                                                                               \
    (csystemd_bus *, csystemd_slot **, csystemd_message *, csystemd_handler, void *, uint64_t))                           \
  X(int, sd_bus_add_match_async,                                                                                          \
    (csystemd_bus *, csystemd_slot **, const char *, csystemd_handler, csystemd_handler, void *))                         \
  X(csystemd_slot *, sd_bus_slot_unref, (csystemd_slot *))                                                                \
  X(int, sd_bus_message_new_method_call,                                                                                  \
    (csystemd_bus *, csystemd_message **, const char *, const char *, const char *, const char *))                        \
  X(csystemd_message *, sd_bus_message_ref, (csystemd_message *))                                                         \
  X(csystemd_message *, sd_bus_message_unref, (csystemd_message *))                                                       \
  X(int, sd_bus_message_set_auto_start, (csystemd_message *, int))                                                        \
  X(int, sd_bus_message_sensitive, (csystemd_message *))                                                                  \
  X(const char *, sd_bus_message_get_path, (csystemd_message *))                                                          \
  X(const char *, sd_bus_message_get_sender, (csystemd_message *))                                                        \
  X(const csystemd_error *, sd_bus_message_get_error, (csystemd_message *))                                               \
  X(int, sd_bus_message_append_basic, (csystemd_message *, char, const void *))                                           \
  X(int, sd_bus_message_append_array, (csystemd_message *, char, const void *, size_t))                                   \
  X(int, sd_bus_message_open_container, (csystemd_message *, char, const char *))                                         \
  X(int, sd_bus_message_close_container, (csystemd_message *))                                                            \
  X(int, sd_bus_message_read_basic, (csystemd_message *, char, void *))                                                   \
  X(int, sd_bus_message_read_array, (csystemd_message *, char, const void **, size_t *))                                  \
  X(int, sd_bus_message_enter_container, (csystemd_message *, char, const char *))                                        \
  X(int, sd_bus_message_exit_container, (csystemd_message *))                                                             \
  X(int, sd_bus_message_peek_type, (csystemd_message *, char *, const char **))                                           \
  X(int, sd_bus_message_skip, (csystemd_message *, const char *))

struct csystemd {
#define CSYSTEMD_FIELD(result, name, parameters) result(*_Nonnull name) parameters;
  CSYSTEMD_FUNCTIONS(CSYSTEMD_FIELD)
#undef CSYSTEMD_FIELD
};

// The functions of the first library that has all of them; NULL when none has. Not safe for two threads at once.
static inline const struct csystemd *_Nullable csystemd_load(void) {
  static struct csystemd functions;
  static const char *const names[] = {"libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    int missing = 0;
#define CSYSTEMD_LOAD(result, name, parameters) \
  *(void **)&functions.name = dlsym(library, #name); \
  missing += !*(void **)&functions.name;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_LOAD)
#undef CSYSTEMD_LOAD
    if (!missing) return &functions;
    dlclose(library);
  }
  return NULL;
}

#ifdef CSYSTEMD_VERIFY
#define CSYSTEMD_CHECK(result, name, parameters) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) parameters), #name);
CSYSTEMD_FUNCTIONS(CSYSTEMD_CHECK)
_Static_assert(sizeof(sd_bus_error) == 2 * sizeof(char *) + sizeof(char *), "sd_bus_error");
_Static_assert(offsetof(sd_bus_error, message) == sizeof(char *), "sd_bus_error.message");
#endif

#endif
