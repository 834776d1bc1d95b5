import StateRestoration
import Testing

#if canImport(Glibc)
import Glibc

@Suite struct StandardErrorLogTests {
  @Test func `a warning that nobody can read ends no program, and its signals stay as they were`() async {
    await #expect(processExitsWith: .exitCode(3)) {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0 else { exit(4) }
      close(ends[0])
      close(ends[1])
      var (broken, now) = (sigset_t(), sigset_t())
      unsafe sigemptyset(&broken)
      unsafe sigaddset(&broken, SIGPIPE)
      unsafe pthread_sigmask(SIG_UNBLOCK, &broken, nil)
      signal(SIGPIPE, SIG_DFL)
      RestorationLog.standardError.log(.warning, "nobody reads this")
      unsafe pthread_sigmask(SIG_BLOCK, nil, &now)
      guard unsafe sigismember(&now, SIGPIPE) == 0 else { exit(5) }
      exit(3)
    }
  }
}
#endif
