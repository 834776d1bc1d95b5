import CDesktop
import Foundation
import Glibc
import StateRestoration

/// A program that is given a secret and gives one back, within a time.
enum ChildProcess {
  /// How a program ended.
  struct Result {
    /// The exit status, or the negative number of the signal that ended it; nil where the program ignores SIGCHLD, so that
    /// the kernel forgets its children at once.
    var status: Int32?
    var output: SecretBuffer
  }

  /// No output of interest is longer.
  private static let limit = 65_536

  /// Runs a program to its end; it is killed when the time is over.
  ///
  /// - Parameter input: At most a few kilobytes, which fit into a socket's buffer.
  static func run(
    _ program: String, _ arguments: [String], input: SecretBuffer?, within timeout: Duration
  ) throws(ProtectionError) -> Result {
    let deadline = MonotonicTime.now + timeout
    let (inputRead, inputWrite) = try makePipe()
    // Written before anybody reads, so that no reader can go away meanwhile and nothing has to wait.
    if let input {
      _ = unsafe input.withMemory { bytes in unsafe write(inputWrite, bytes.baseAddress, bytes.count) }
    }
    close(inputWrite)
    defer { close(inputRead) }
    let (outputRead, outputWrite) = try makePipe()
    defer { close(outputRead) }
    let child: Child
    do throws(ProtectionError) {
      child = Child(try spawn(program, arguments, input: inputRead, output: outputWrite))
    } catch {
      close(outputWrite)
      throw error
    }
    close(outputWrite)
    var count = 0
    var isLate = false
    let buffer = unsafe SecretBuffer(byteCount: limit) { target in
      while count < target.count {
        var descriptor = pollfd(fd: outputRead, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&descriptor, 1, deadline.pollTimeout(from: .now))
        if ready < 0, errno == EINTR { continue }
        guard ready != 0 else {
          isLate = true
          break
        }
        let result = unsafe read(outputRead, target.baseAddress! + count, target.count - count)
        if result < 0, errno == EINTR { continue }
        guard result > 0 else { break }
        count += result
      }
    }
    let end = child.wait(until: deadline)
    guard !isLate, end != .ended else {
      throw ProtectionError(.busy, "\(program) has not ended within \(timeout), and was ended.")
    }
    let output = unsafe buffer.withMemory {
      unsafe SecretBuffer(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    return Result(status: end.status, output: output)
  }

  private static func makePipe() throws(ProtectionError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    // Unlike a pipe's, a socket's ends can be kept from other children at once in Swift.
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw ProtectionError(.io, "There is no file descriptor left.", errno: errno)
    }
    return (ends[0], ends[1])
  }

  private static func spawn(
    _ program: String, _ arguments: [String], input: Int32, output: Int32
  ) throws(ProtectionError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    let variables = unsafe ProcessInfo.processInfo.environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      unsafe words.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var child: pid_t = 0
    let failure = unsafe posix_spawn(&child, program, &actions, nil, words, variables)
    guard failure == 0 else {
      throw ProtectionError(.io, "\(program) can't be started. Install the package that has it.", errno: failure)
    }
    return child
  }
}

/// A child process, also when another one has its number later.
private struct Child: ~Copyable {
  private let process: pid_t
  /// The kernel's descriptor of the process; negative when it has none, or when the child is gone already.
  private let descriptor: Int32

  init(_ process: pid_t) {
    self.process = process
    var found = cprocess_open(process)
    var status: Int32 = 0
    // Where the program ignores SIGCHLD, the number of a child that has ended may be another process's by now.
    if found >= 0, unsafe cprocess_wait(found, Int32(cprocess_options_look), &status) < 0 {
      close(found)
      found = -1
    }
    descriptor = found
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// How a child came to its end.
  enum End: Equatable {
    /// By itself, with a status as a result has it.
    case status(Int32)
    /// By itself, and nobody knows the status any more.
    case unknown
    /// Not in time.
    case ended

    var status: Int32? { if case .status(let status) = self { status } else { nil } }
  }

  /// Waits for the end, and makes it at the deadline.
  func wait(until deadline: MonotonicTime) -> End {
    guard descriptor >= 0 else { return waitByNumber(until: deadline) }
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&request, 1, deadline.pollTimeout(from: .now)) < 0, errno == EINTR {}
    let isLate = request.revents == 0
    if isLate { _ = cprocess_send(descriptor, SIGKILL) }
    var status: Int32 = 0
    var code: Int32 = -1
    repeat {
      code = unsafe cprocess_wait(descriptor, Int32(cprocess_options_reap), &status)
    } while code < 0 && errno == EINTR
    guard !isLate else { return .ended }
    // ECHILD: the kernel has forgotten it, as the program ignores SIGCHLD.
    guard code > 0 else { return .unknown }
    return .status(code == Int32(cprocess_exited) ? status : -status)
  }

  /// Waits for a child without a descriptor: it is gone already, or the kernel is older than 5.3.
  ///
  /// It is never ended, as its number may be another process's.
  private func waitByNumber(until deadline: MonotonicTime) -> End {
    var status: Int32 = 0
    while true {
      let result = unsafe waitpid(process, &status, WNOHANG)
      if result == process { return .status(status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)) }
      if result < 0, errno != EINTR { return .unknown }
      guard MonotonicTime.now < deadline else { return .ended }
      usleep(1000)
    }
  }
}
