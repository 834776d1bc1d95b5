import DesktopSession
import Foundation
import Glibc
import Synchronization
import Testing

/// A private bus with the mock of a desktop on it.
final class MockDesktop: Sendable {
  let directory: String
  /// The directory whose bytes the mock looks at when the inhibitor is let go.
  let state: String
  private let daemon = Mutex<Helper?>(nil)
  private let services = Mutex<Helper?>(nil)

  init() throws {
    directory = try Machine.scratch()
    state = directory + "/state"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    _ = unsafe chmod(state, 0o700)
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(atPath: directory)
  }

  var address: String { "unix:path=\(directory)/bus" }

  /// The bus daemon.
  var bus: Helper { get throws { try #require(daemon.withLock { $0 }) } }

  /// The program behind the names.
  var mock: Helper { get throws { try #require(services.withLock { $0 }) } }

  /// Starts the daemon and the services.
  func start() async throws {
    try await startBus()
    try await startServices()
  }

  func startBus() async throws {
    _ = unsafe unlink(directory + "/bus")
    let helper = try Helper(
      "/usr/bin/dbus-daemon",
      ["--config-file=\(Machine.support)/private-bus.conf", "--address=\(address)", "--nofork", "--nopidfile"])
    daemon.withLock { $0 = helper }
    try await Machine.wait(for: "the bus") { unsafe access(directory + "/bus", F_OK) == 0 }
  }

  func startServices() async throws {
    let helper = try Helper("/usr/bin/python3", ["\(Machine.support)/desktop-mock.py", address, state])
    services.withLock { $0 = helper }
    try await helper.line("ready")
  }

  func killServices() { services.withLock { $0?.end() } }

  /// Kills the services and the daemon, without a word to anybody.
  func kill() {
    killServices()
    daemon.withLock { $0?.end() }
  }

  /// Carries out commands.
  func tell(_ commands: String...) async throws {
    for command in commands {
      let mock = try mock
      let position = mock.output.count
      mock.tell(command)
      try await mock.line("done", after: position)
    }
  }

  /// The bytes of the state directory, as a sum.
  func digest() async throws -> String {
    let mock = try mock
    let position = mock.output.count
    mock.tell("digest")
    return try await mock.line("digest", after: position)
  }

  /// The options of a driver on this bus, quick enough for tests.
  func options(log: EventLog) -> DesktopSessionDriver.Options {
    var options = DesktopSessionDriver.Options(applicationName: "test")
    options.systemBus = .address(address)
    options.sessionBus = .address(address)
    options.callTimeout = .milliseconds(500)
    options.reconnectDelays = .milliseconds(20) ... .milliseconds(100)
    options.log = log.log
    return options
  }
}
