import Sealing

/// How often a wrong passcode was tried, in a form that can't be forged or torn.
///
/// 112 bytes; the layout is in `Docs/ProtectedFileFormat.md`.
struct AttemptRecord: Hashable, Sendable {
  /// The file's name in the device's directory.
  static let fileName = "attempts"
  static let magic = Array("SRPTRIES".utf8)
  static let version: UInt16 = 1
  private static let messageByteCount = 80
  /// No machine runs so long, and no calendar goes so far.
  private static let secondsLimit: Int64 = 1 << 40

  /// Attempts that began since the last right passcode; raised before the check.
  var started: UInt32 = 0
  /// Those that were checked and found wrong.
  var wrong: UInt32 = 0
  /// The start of the machine in which the last attempt was made.
  var bootIdentifier: [UInt8]
  /// When the last attempt was made, since that start.
  var lastAttempt: Duration
  /// The time of day then, in whole seconds.
  var timeOfDay: Duration

  /// How long after so many attempts the next one has to wait (iOS's table, Apple Platform Security).
  static func delay(afterAttempts count: UInt32) -> Duration {
    switch count {
    case ..<5: .zero
    case 5: .seconds(60)
    case 6: .seconds(5 * 60)
    case 7, 8: .seconds(15 * 60)
    default: longestDelay
    }
  }

  /// The delay when nothing trustworthy is known.
  static let longestDelay = Duration.seconds(60 * 60)
  /// The number of attempts that has the longest delay; what a missing or forged record counts as.
  static let unknownCount: UInt32 = 9
  /// Erase comes after so many wrong passcodes, where it is turned on.
  static let eraseLimit: UInt32 = 10

  /// The rest of the delay, in the same start of the machine.
  ///
  /// Both clocks must have gone on: one of them alone can be shifted or set.
  func remainingDelay(at clock: any BootClock) -> Duration {
    let delay = Self.delay(afterAttempts: started)
    let since = min(clock.elapsed - lastAttempt, clock.timeOfDay - timeOfDay)
    return since < .zero ? delay : max(.zero, delay - since)
  }

  /// Whether a delay must begin anew: the machine was started again, or a clock was set back.
  func isStale(at clock: any BootClock) -> Bool {
    guard started > 0 else { return false }
    return bootIdentifier != clock.bootIdentifier || lastAttempt > clock.elapsed || timeOfDay > clock.timeOfDay
  }

  /// Notes that the last attempt is now.
  mutating func restart(at clock: any BootClock) {
    bootIdentifier = clock.bootIdentifier
    lastAttempt = clock.elapsed
    timeOfDay = .seconds(clock.timeOfDay.components.seconds)
  }

  /// The file's bytes.
  func encode(keybag: KeybagIdentifier, key: borrowing SecretKey) throws(ProtectionError) -> [UInt8] {
    var bytes = Self.magic
    bytes.appendInteger(Self.version)
    bytes.appendZeroes(6)
    bytes += keybag.bytes
    bytes.appendInteger(started)
    bytes.appendInteger(wrong)
    bytes += bootIdentifier
    bytes.appendInteger(lastAttempt.components.seconds)
    bytes.appendInteger(lastAttempt.components.attoseconds / 1_000_000_000)
    bytes.appendInteger(timeOfDay.components.seconds)
    bytes += try sealing("authenticate the attempts") { () throws(SealingError) in
      try HMACSHA256.authenticationCode(for: bytes.span, key: key)
    }
    return bytes
  }

  /// Reads a file's bytes; `nil` for anything but an authentic record of this keybag.
  init?(_ bytes: [UInt8], keybag: KeybagIdentifier, key: borrowing SecretKey) throws(ProtectionError) {
    guard bytes.count == Self.messageByteCount + 32 else { return nil }
    let message = Array(bytes[..<Self.messageByteCount])
    let code = Array(bytes[Self.messageByteCount...])
    let isValid = try sealing("check the attempts") { () throws(SealingError) in
      try HMACSHA256.isValid(code.span, for: message.span, key: key)
    }
    guard isValid, message.starts(with: Self.magic) else { return nil }
    var reader = FieldReader(message[Self.magic.count...])
    let version: UInt16 = reader.integer()
    _ = reader.take(6)
    guard version == Self.version, Array(reader.take(16)) == keybag.bytes else { return nil }
    started = reader.integer()
    wrong = reader.integer()
    bootIdentifier = Array(reader.take(16))
    let (seconds, nanoseconds): (Int64, Int64) = (reader.integer(), reader.integer())
    let daytime: Int64 = reader.integer()
    // A sum out of bounds would trap when it is written again.
    guard (0..<Self.secondsLimit).contains(seconds), (0..<1_000_000_000).contains(nanoseconds),
      (0..<Self.secondsLimit).contains(daytime)
    else { return nil }
    lastAttempt = .seconds(seconds) + .nanoseconds(nanoseconds)
    timeOfDay = .seconds(daytime)
  }

  /// A record of some attempts, made now.
  init(started: UInt32, at clock: any BootClock) {
    self.started = started
    bootIdentifier = clock.bootIdentifier
    lastAttempt = clock.elapsed
    timeOfDay = .seconds(clock.timeOfDay.components.seconds)
  }
}
