// The kernel's file descriptors of processes (pidfd_open(2)), which older versions of glibc don't wrap. Every function is one
// call.
#ifndef STATE_RESTORATION_CPROCESS_H
#define STATE_RESTORATION_CPROCESS_H

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// From the kernel's stable interface, for headers that are older.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

// A descriptor that stands for the process as long as it is open; it becomes readable when the process ends.
static inline int cprocess_open(pid_t process) {
  return (int)syscall(SYS_pidfd_open, process, 0U);
}

static inline int cprocess_send(int process, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0U);
}

// waitid for one process by its descriptor (P_PIDFD): the code (CLD_EXITED and the like) and the status, or -1 with errno; the
// code is 0 while the process runs and WNOHANG is given.
static inline int cprocess_wait(int process, int options, int *status) {
  siginfo_t information;
  information.si_pid = 0;
  information.si_code = 0;
  if (waitid((idtype_t)3, (id_t)process, &information, options) != 0) return -1;
  *status = information.si_status;
  return information.si_pid == 0 ? 0 : information.si_code;
}

enum {
  cprocess_exited = CLD_EXITED,
  cprocess_options_look = WEXITED | WNOHANG | WNOWAIT,
  cprocess_options_reap = WEXITED,
};

#endif
