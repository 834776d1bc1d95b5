#if canImport(Glibc)
import Glibc

/// Runs a call that may make a file longer, so that the process's limit is an error of that call, like a full disk.
///
/// The signal that goes with the error would end the program, and handlers belong to the program: it is held back from this
/// thread for the length of the call, and taken away if the call has caused it. `errno` is the call's.
func withoutFileSizeSignal<Result>(_ body: () -> Result) -> Result {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
    return body()
  }
  return holdingBack(SIGXFSZ, ifCausedBy: EFBIG, body)
}

/// Runs a call while a signal that it may send to its own thread is held back, and takes that one away.
private func holdingBack<Result>(_ signal: Int32, ifCausedBy code: Int32, _ body: () -> Result) -> Result {
  var (one, pending, former) = (sigset_t(), sigset_t(), sigset_t())
  unsafe sigemptyset(&one)
  unsafe sigaddset(&one, signal)
  unsafe sigpending(&pending)
  // One that waits already is somebody else's.
  let isPending = unsafe sigismember(&pending, signal) == 1
  unsafe pthread_sigmask(SIG_BLOCK, &one, &former)
  errno = 0
  let result = body()
  let failure = errno
  if failure == code, !isPending {
    var none = timespec()
    _ = unsafe sigtimedwait(&one, nil, &none)
  }
  unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  errno = failure
  return result
}
#endif
