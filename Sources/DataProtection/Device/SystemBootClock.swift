#if canImport(Glibc)
import Glibc

/// The kernel's boot-time clock, and its time of day.
package struct SystemBootClock: BootClock {
  package let bootIdentifier: [UInt8]

  /// The clock of this process.
  package static let shared = SystemBootClock()

  /// Reads the boot identifier once.
  ///
  /// Where the kernel gives none (a container without /proc), it is 16 zeroes: delays then go on across a restart
  /// only as far as the clock does, which starts from zero there.
  package init() {
    bootIdentifier = Self.readBootIdentifier() ?? [UInt8](repeating: 0, count: 16)
  }

  package var elapsed: Duration { Self.time(CLOCK_BOOTTIME) }
  package var timeOfDay: Duration { Self.time(CLOCK_REALTIME) }

  private static func time(_ clock: clockid_t) -> Duration {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private static func readBootIdentifier() -> [UInt8]? {
    let descriptor = unsafe Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = unsafe text.withUnsafeMutableBytes { buffer in
      unsafe read(descriptor, buffer.baseAddress!, buffer.count)
    }
    guard count > 0 else { return nil }
    let digits = text.prefix(count).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 32 else { return nil }
    return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
#endif
