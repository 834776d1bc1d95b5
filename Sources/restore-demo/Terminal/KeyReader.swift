import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A thread that reads the terminal and hands each key over as soon as it is complete.
///
/// Reading blocks, so it has a thread of its own; the keys arrive through a callback that may be called on any thread.
final class KeyReader: Sendable {
  /// How long a lone escape byte waits for the rest of a sequence, in milliseconds.
  private static let escapeDelay: Int32 = 150

  /// Starts reading.
  ///
  /// - Parameters:
  ///   - input: The terminal's descriptor.
  ///   - onKeys: Called with keys in the order typed.
  ///   - onEnd: Called once when the terminal is gone.
  init(
    input: Int32 = 0, onKeys: @escaping @Sendable ([Key]) -> Void, onEnd: @escaping @Sendable () -> Void
  ) {
    let thread = Thread {
      Self.readUntilEnd(of: input, onKeys: onKeys)
      onEnd()
    }
    thread.name = "keys"
    thread.start()
  }

  private static func readUntilEnd(of input: Int32, onKeys: ([Key]) -> Void) {
    var parser = KeyParser()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var descriptor = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&descriptor, 1, parser.isWaiting ? escapeDelay : -1)
      if ready < 0 {
        if errno == EINTR { continue }
        return
      }
      if ready == 0 {
        onKeys(parser.flush())
        continue
      }
      let count = unsafe read(input, &buffer, buffer.count)
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      guard count > 0 else { return }
      let keys = parser.parse(buffer[..<count])
      if !keys.isEmpty { onKeys(keys) }
    }
  }
}
