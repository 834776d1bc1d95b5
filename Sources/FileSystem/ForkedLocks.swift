#if canImport(Glibc)
import Glibc
import Synchronization

/// Lets a forked child have none of its parent's locks.
///
/// A lock belongs to the open file, which a child shares: it would keep the lock when its parent has ended, in the name of
/// a process that is gone. In a child that `fork` makes, each descriptor gets an open file of its own, without the lock.
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
  for index in 0..<ForkedLocks.capacity {
    let descriptor = unsafe descriptors[index]
    guard descriptor >= 0 else { continue }
    let opened = openAnew(descriptor)
    // Without /proc or a free descriptor the child has to do without the file.
    guard opened >= 0 else {
      close(descriptor)
      continue
    }
    _ = dup2(opened, descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    close(opened)
  }
}

/// Opens what a descriptor leads to once more, as `/proc/self/fd/<number>`.
private func openAnew(_ descriptor: Int32) -> Int32 {
  let folder: StaticString = "/proc/self/fd/"
  return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { path in
    unsafe memcpy(path.baseAddress!, folder.utf8Start, folder.utf8CodeUnitCount)
    var end = folder.utf8CodeUnitCount
    var digit: Int32 = 1
    while digit <= descriptor / 10 { digit *= 10 }
    while digit > 0 {
      unsafe path[end] = CChar(48 + descriptor / digit % 10)
      end += 1
      digit /= 10
    }
    unsafe path[end] = 0
    let access = fcntl(descriptor, F_GETFL) & O_ACCMODE
    return unsafe open(path.baseAddress!, access | O_CLOEXEC)
  }
}
#endif
