package import FileSystem
import FoundationShim
package import Sealing

/// Everything a device takes from outside, so that tests can put something else there.
package struct DeviceEnvironment: Sendable {
  /// The disk.
  package var fileSystem: any FileSystem
  /// The clock of the grace period.
  package var clock: any Clock<Duration>
  /// The clock of the delays after wrong passcodes.
  package var bootClock: any BootClock
  /// Where keys and salts come from.
  package var random: any RandomSource
  /// What a passcode check costs.
  package var scrypt: ScryptProfile
  /// Looks up an environment variable.
  package var variables: @Sendable (String) -> String?

  /// Puts an environment together; the parts that aren't given are the real ones.
  package init(
    fileSystem: any FileSystem = LinuxFileSystem(), clock: any Clock<Duration> = SuspendingClock(),
    bootClock: any BootClock = SystemBootClock.shared, random: any RandomSource = SystemRandom(),
    scrypt: ScryptProfile = .production,
    variables: @escaping @Sendable (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
  ) {
    self.fileSystem = fileSystem
    self.clock = clock
    self.bootClock = bootClock
    self.random = random
    self.scrypt = scrypt
    self.variables = variables
  }

  /// What ends a grace period: a thread of its own, or the clock that a test moves.
  var graceTimer: any GraceTimer { clock is SuspendingClock ? ThreadTimer() : ClockTimer(clock: clock) }

  /// The real one.
  package static var system: DeviceEnvironment { DeviceEnvironment() }
}

/// The cost of deriving a key from a passcode.
package struct ScryptProfile: Hashable, Sendable {
  /// The binary logarithm of the number of rounds (N).
  package var workExponent: UInt8
  /// The block size (r).
  package var blockSize: UInt16
  /// The parallelism (p).
  package var parallelism: UInt16
  /// Whether this is a cheap profile for tests, which production refuses to open.
  package var isForTests: Bool

  /// N = 2^17, r = 8, p = 1: 128 MiB and about half a second.
  package static let production = ScryptProfile(workExponent: 17, blockSize: 8, parallelism: 1, isForTests: false)
  /// N = 2^4: for tests that are about something else.
  package static let test = ScryptProfile(workExponent: 4, blockSize: 8, parallelism: 1, isForTests: true)

  /// Whether a profile found in a keybag may be computed: not cheaper than it must be, not dearer than memory allows.
  var isInBounds: Bool {
    let least: UInt8 = isForTests ? 1 : Self.production.workExponent
    guard (least...21).contains(workExponent), (1...32).contains(blockSize), (1...16).contains(parallelism) else {
      return false
    }
    guard isForTests || blockSize >= Self.production.blockSize else { return false }
    // N·r·128 bytes are taken, p times one after the other: at most 512 MiB, and at most 8 times production's work.
    let product = (UInt64(1) << workExponent) * UInt64(blockSize) * UInt64(parallelism)
    // And nothing that the algorithm itself refuses.
    return product <= 8 << 20 && cost.byteCount != nil
  }

  /// The cost as the sealing module takes it.
  var cost: Scrypt.Cost {
    Scrypt.Cost(work: 1 << workExponent, blockSize: UInt32(blockSize), parallelism: UInt32(parallelism))
  }
}
