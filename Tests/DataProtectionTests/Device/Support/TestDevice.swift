import DataProtection
import FaultyFileSystem
import FileSystem
import Patience
import SimulatedTime
import Synchronization
import Testing

/// A boot clock that stands still until a test moves it or restarts the machine.
final class ManualBootClock: BootClock {
  private struct State {
    var elapsed = Duration.seconds(1000)
    var timeOfDay = Duration.seconds(1_800_000_000)
    var boot: UInt8 = 1
  }

  private let state = Mutex(State())

  var elapsed: Duration { state.withLock { $0.elapsed } }
  var bootIdentifier: [UInt8] { [UInt8](repeating: state.withLock { $0.boot }, count: 16) }

  var timeOfDay: Duration { state.withLock { $0.timeOfDay } }

  func advance(by duration: Duration) {
    state.withLock { state in
      state.elapsed += duration
      state.timeOfDay += duration
    }
  }

  /// What a time namespace of a user's own does.
  func shiftElapsed(by duration: Duration) {
    state.withLock { $0.elapsed += duration }
  }

  /// What somebody does who may set the clock.
  func shiftTimeOfDay(by duration: Duration) {
    state.withLock { $0.timeOfDay += duration }
  }

  func restart() {
    state.withLock { state in
      state.boot += 1
      state.elapsed = .seconds(5)
    }
  }
}

/// What a device of a test lives in; each test has its own.
struct TestWorld {
  var memory = MemoryFileSystem()
  var clock = ManualClock()
  var bootClock = ManualBootClock()
  var options = ProtectedDevice.Options()

  static let path = "/state/device"

  /// Opens the device; `fileSystem` stands before the memory when it is given.
  func open(through fileSystem: (any FileSystem)? = nil) async throws(ProtectionError) -> ProtectedDevice {
    try await ProtectedDevice.open(
      at: .directory(Self.path), options: options, environment: environment(fileSystem))
  }

  func erase() async throws(ProtectionError) {
    try await ProtectedDevice.eraseAllContent(
      at: .directory(Self.path), options: options, environment: environment(nil))
  }

  func environment(_ fileSystem: (any FileSystem)?) -> DeviceEnvironment {
    DeviceEnvironment(
      fileSystem: fileSystem ?? memory, clock: clock, bootClock: bootClock, scrypt: .test, variables: { _ in nil })
  }

  /// The names in the device's directory.
  var names: [String] { memory.names(atPath: Self.path).sorted() }

  /// The path of the only file whose name begins so.
  func only(_ prefix: String) throws -> String {
    let found = names.filter { $0.hasPrefix(prefix) }
    try #require(found.count == 1, "\(found)")
    return Self.path + "/" + found[0]
  }

  /// Moves the clock until a lock is over.
  func finishLock(_ device: ProtectedDevice) async throws {
    await clock.waitForSleepers(1)
    clock.advance(by: options.gracePeriod)
    try await waitUntil("the lock's end") { device.lockState != .locking }
  }

  /// Whether a passcode opens the device as it is on disk, asked in a world where nothing was tried before.
  func opens(_ passcode: String) async throws -> Bool {
    let device = try await open()
    bootClock.advance(by: .seconds(7200))
    do {
      try await device.unlock(passcode: ProtectedDevice.Passcode(passcode))
      return true
    } catch  where error.code == .wrongPasscode {
      return false
    }
  }
}

/// Collects what is told, in order.
final class Log<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  func append(_ element: Element) {
    elements.withLock { $0.append(element) }
  }

  var all: [Element] { elements.withLock { $0 } }
}

/// The code that a body throws, or `nil`.
func code(of body: () async throws -> Void) async -> ProtectionError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? ProtectionError)?.code
  }
}
