import Foundation
import Glibc
import StateRestoration

/// A program that is given a secret and gives one back, within a time.
enum ChildProcess {
  /// How a program ended.
  struct Result {
    /// The exit status, or the negative number of the signal that ended it.
    var status: Int32
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
    let child: pid_t
    do throws(ProtectionError) {
      child = try spawn(program, arguments, input: inputRead, output: outputWrite)
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
    let status = wait(for: child, until: deadline)
    guard !isLate, let status else {
      throw ProtectionError(.busy, "\(program) has not ended within \(timeout), and was ended.")
    }
    let output = unsafe buffer.withMemory {
      unsafe SecretBuffer(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    return Result(status: status, output: output)
  }

  /// The status of a child, or nil when it had to be killed.
  private static func wait(for child: pid_t, until deadline: MonotonicTime) -> Int32? {
    var status: Int32 = 0
    var wasKilled = false
    while unsafe waitpid(child, &status, wasKilled ? 0 : WNOHANG) != child {
      if wasKilled { continue }
      if MonotonicTime.now >= deadline {
        kill(child, SIGKILL)
        wasKilled = true
      } else {
        usleep(1000)
      }
    }
    if wasKilled { return nil }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
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
