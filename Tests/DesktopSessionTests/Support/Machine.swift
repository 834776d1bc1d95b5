import Foundation
import Glibc
import Testing

/// Programs that a test starts, with what they print; killed with the value.
final class Machine: Sendable {
  struct TimedOut: Error, CustomStringConvertible {
    var description: String
  }

  /// How long a test waits for something that should come at once.
  static let patience = Duration.seconds(60)

  /// The folder of the test's files.
  static let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path

  /// Waits until a condition holds.
  static func wait(
    for what: @autoclosure () -> String, timeout: Duration = patience, until condition: () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + timeout
    while !(try await condition()) {
      guard ContinuousClock.now < end else { throw TimedOut(description: "waited for \(what())") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// A new directory for this user alone, short enough for a socket's path.
  static func scratch() throws -> String {
    let path = "/tmp/desk-" + UUID().uuidString.prefix(8).lowercased()
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    return path
  }
}
