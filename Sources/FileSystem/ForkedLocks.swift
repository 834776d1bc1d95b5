#if canImport(Glibc)
import Glibc
import Synchronization

/// Lets a forked child have none of its parent's locks.
///
/// A lock belongs to the open file, which a child shares: it would keep the lock when its parent has ended, in the name of
/// a process that is gone. In a child that `fork` makes, the descriptors stay and lead to `/dev/null`.
enum ForkedLocks {
  /// A program has a few locks; more than these stay with a child.
  static let capacity = 256

  /// Whether the child's handler is installed.
  private static let isReady: Bool = {
    unsafe descriptors.initialize(repeating: -1, count: capacity)
    return pthread_atfork(nil, nil, leaveParentsLocks) == 0
  }()

  private static let turn = Mutex<Void>(())

  /// Notes a descriptor that has a lock now.
  static func add(_ descriptor: Int32) {
    guard isReady else { return }
    turn.withLock { _ in
      var free: Int?
      for index in 0..<capacity {
        if unsafe descriptors[index] == descriptor { return }
        if free == nil, unsafe descriptors[index] < 0 { free = index }
      }
      if let free { unsafe descriptors[free] = descriptor }
    }
  }

  /// Forgets a descriptor, before it is closed.
  static func remove(_ descriptor: Int32) {
    guard isReady else { return }
    turn.withLock { _ in
      for index in 0..<capacity where unsafe descriptors[index] == descriptor { unsafe descriptors[index] = -1 }
    }
  }
}

/// The noted descriptors, or -1, in memory that a child reads without a lock.
private nonisolated(unsafe) let descriptors = UnsafeMutablePointer<Int32>.allocate(capacity: ForkedLocks.capacity)

/// Runs in a child, where only calls that are safe in a signal handler may be made.
private func leaveParentsLocks() {
  let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
  for index in 0..<ForkedLocks.capacity {
    let descriptor = unsafe descriptors[index]
    guard descriptor >= 0 else { continue }
    if nothing >= 0 { _ = dup2(nothing, descriptor) } else { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }
  if nothing >= 0 { close(nothing) }
}
#endif
