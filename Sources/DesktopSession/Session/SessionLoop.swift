import Foundation
import Glibc
import Synchronization

/// The thread on which the buses are served, and the only way to it from elsewhere.
///
/// It blocks on nothing but `poll`, and on that no longer than until the next deadline.
final class SessionLoop: Sendable {
  private struct Inbox {
    var commands: [@Sendable (SessionMonitor) -> Void] = []
    var isStopped = false
  }

  private let inbox = Mutex(Inbox())
  private let readEnd: Int32
  private let writeEnd: Int32

  /// Makes the thread's pipe; nil when the process has no descriptor left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Starts the thread; it ends, and closes every connection, after ``stop()``.
  func start(_ makeMonitor: @escaping @Sendable () -> SessionMonitor) {
    let thread = Thread { [self] in run(makeMonitor()) }
    thread.name = "desktop-session"
    thread.start()
  }

  /// Has something done on the thread.
  func perform(_ command: @escaping @Sendable (SessionMonitor) -> Void) {
    inbox.withLock { $0.commands.append(command) }
    wake()
  }

  /// Ends the thread soon; nothing waits for it.
  func stop() {
    inbox.withLock { $0.isStopped = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = unsafe write(writeEnd, &byte, 1)
  }

  private func run(_ monitor: SessionMonitor) {
    defer { monitor.close() }
    while true {
      let (commands, isStopped) = inbox.withLock { inbox in
        defer { inbox.commands = [] }
        return (inbox.commands, inbox.isStopped)
      }
      for command in commands { command(monitor) }
      if isStopped { return }
      monitor.step()
      var descriptors = [pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)] + monitor.descriptors
      let timeout = monitor.deadline.map { $0.pollTimeout(from: .now) } ?? -1
      _ = unsafe poll(&descriptors, nfds_t(descriptors.count), timeout)
      var bytes = [UInt8](repeating: 0, count: 64)
      while unsafe read(readEnd, &bytes, bytes.count) == bytes.count {}
    }
  }
}
