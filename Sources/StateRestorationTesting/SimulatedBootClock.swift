import DataProtection
import SimulatedTime

/// The time since a simulated device was started, on the test's clock.
struct SimulatedBootClock: BootClock {
  let clock: ManualClock
  let start: ManualClock.Instant
  let bootIdentifier: [UInt8]

  /// A start of the device; the number makes it distinct from the starts before.
  init(clock: ManualClock, number: UInt64) {
    self.clock = clock
    start = clock.now
    bootIdentifier = (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) : 0xB0 }
  }

  var elapsed: Duration { start.duration(to: clock.now) }
}
