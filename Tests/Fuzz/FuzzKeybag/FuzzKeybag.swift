import Foundation
import FuzzSupport
import Sealing

@testable import DataProtection

/// Feeds any bytes to everything that reads the files of keys, before and behind their authentication codes.
///
/// The first byte chooses. A keybag that is taken apart must be put together to the same bytes; nobody without the
/// device key makes one that is taken; and one that says anything at all under right codes is opened or refused.
@c(LLVMFuzzerTestOneInput)
public func fuzzKeybag(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 3) else { return 0 }
  let rest = Array(input[2...])
  let sample = samples[Int(input[1]) % samples.count]
  switch input[0] % 6 {
  case 0: takeApart(rest)
  case 1: takeApart(sample.keybag.edited(by: rest))
  case 2: openForged(sample, rest, input[1])
  case 3: openAuthenticated(sample, rest, withPasscodeCode: input[1] & 128 != 0)
  case 4: openEffaceable(sample, rest, isAuthentic: input[1] & 128 != 0)
  default: readAttempts(rest)
  }
  return 0
}

private func takeApart(_ bytes: [UInt8]) {
  if let isCanonical = try? KeybagInspection.isCanonical(bytes) {
    precondition(isCanonical, "a keybag was accepted that would be written differently")
  }
}

/// Without the device key nothing but the original is taken.
private func openForged(_ sample: Sample, _ changes: [UInt8], _ choice: UInt8) {
  let keybag = choice & 64 == 0 ? sample.keybag.edited(by: changes) : sample.keybag
  let effaceable = choice & 64 == 0 ? sample.effaceable : sample.effaceable.edited(by: changes)
  guard (try? KeybagInspection.open(keybag: keybag, effaceable: effaceable, deviceKey: Sample.deviceKey)) != nil
  else { return }
  precondition(keybag == sample.keybag && effaceable == sample.effaceable, "a forged keybag was taken")
}

/// A keybag with changes and right codes: what an attacker with the device key can make.
private func openAuthenticated(_ sample: Sample, _ changes: [UInt8], withPasscodeCode: Bool) {
  var bytes = sample.keybag.edited(by: changes)
  guard bytes.count >= 104 else { return }
  if withPasscodeCode, let code = try? sample.passcodeKey.passcodeMAC(over: Array(bytes.dropLast(68))) {
    bytes.replaceSubrange(bytes.count - 68..<bytes.count - 36, with: code)
  }
  guard let code = try? sample.binding.deviceMAC(over: Array(bytes.dropLast(32))) else { return }
  bytes.replaceSubrange(bytes.count - 32..<bytes.count, with: code)
  let effaceable = Effaceable(
    deviceIdentifier: sample.binding.deviceIdentifier, keybag: Sample.identifier, revision: Sample.revision)
  for allowsTestProfile in [true, false] {
    guard
      let opened = try? OpenKeybag(
        bytes, effaceable: effaceable, binding: sample.binding, allowsTestProfile: allowsTestProfile)
    else { continue }
    precondition(allowsTestProfile || !opened.keybag.isForTests, "a cheap keybag is taken in production")
    if let profile = opened.keybag.derivation {
      precondition((profile.cost.byteCount ?? .max) <= 1 << 30, "a passcode check may exhaust memory")
    }
    _ = try? opened.alwaysAvailableKey()
    guard let isRight = try? opened.isRight(sample.stretched), isRight else { continue }
    guard let keys = try? opened.keys(sample.stretched) else { continue }
    for protection in ProtectionClass.allCases {
      guard let key = keys[protection].active else {
        preconditionFailure("a keybag without a key of every class is taken")
      }
      let expected = sample.keys[protection].active?.identifier
      precondition(key.identifier == expected, "a key that nobody wrapped was unwrapped")
    }
  }
}

private func openEffaceable(_ sample: Sample, _ changes: [UInt8], isAuthentic: Bool) {
  var bytes = sample.effaceable.edited(by: changes)
  guard bytes.count == Effaceable.byteCount else {
    _ = try? KeybagInspection.open(keybag: sample.keybag, effaceable: bytes, deviceKey: Sample.deviceKey)
    return
  }
  if isAuthentic, let key = try? ProtectedDevice.Key(copying: Sample.deviceKey.span),
    let code = try? key.derive(.effaceable),
    let mac = try? HMACSHA256.authenticationCode(for: Array(bytes.dropLast(32)).span, key: code)
  {
    bytes.replaceSubrange(88..<120, with: mac)
  }
  let opened = try? KeybagInspection.open(keybag: sample.keybag, effaceable: bytes, deviceKey: Sample.deviceKey)
  precondition(opened == nil || bytes[32..<88] == sample.effaceable[32..<88], "another keybag key opens the keybag")
}

/// The count of attempts, under its code: any count, any moment.
private func readAttempts(_ input: [UInt8]) {
  guard let deviceKey = try? ProtectedDevice.Key(copying: Sample.deviceKey.span),
    let key = try? deviceKey.derive(.attempts)
  else { return }
  _ = try? AttemptRecord(input, keybag: Sample.identifier, key: key)
  guard input.count >= 48 else { return }
  var message = AttemptRecord.magic
  message.appendInteger(AttemptRecord.version)
  message += [UInt8](repeating: 0, count: 6) + Sample.identifier.bytes + input.prefix(48)
  var moment = FieldReader(input[24..<48])
  let (seconds, nanoseconds, timeOfDay): (Int64, Int64, Int64) = (moment.integer(), moment.integer(), moment.integer())
  let isPossible = seconds >> 40 == 0 && (0..<1_000_000_000).contains(nanoseconds) && timeOfDay >> 40 == 0
  guard let code = try? HMACSHA256.authenticationCode(for: message.span, key: key),
    let record = try? AttemptRecord(message + code, keybag: Sample.identifier, key: key)
  else { return precondition(!isPossible, "an authentic record is not read") }
  precondition(isPossible, "a record of an impossible moment is read")
  for elapsed in [Duration.zero, .seconds(1_000_000)] {
    let delay = record.remainingDelay(at: StoppedClock(elapsed: elapsed))
    precondition(delay >= .zero && delay <= AttemptRecord.longestDelay, "a delay is longer than the longest")
  }
  precondition((try? record.encode(keybag: Sample.identifier, key: key)) != nil)
}

/// A moment of one start of the machine.
private struct StoppedClock: BootClock {
  let elapsed: Duration
  let bootIdentifier = [UInt8](repeating: 1, count: 16)
}

// MARK: What is valid

/// A keybag with its effaceable file, and everything that opens it.
private struct Sample {
  static let deviceKey = [UInt8](repeating: 7, count: 32)
  static let identifier = KeybagIdentifier(bytes: [UInt8](repeating: 5, count: 16))
  static let revision: UInt64 = 2

  let keys: KeybagKeys
  let stretched: StretchedPasscode
  let binding: KeybagBinding
  let passcodeKey: PasscodeKey
  let keybag: [UInt8]
  let effaceable: [UInt8]

  init(hasPasscode: Bool, hasRetired: Bool) throws {
    var keys = KeybagKeys()
    for protection in ProtectionClass.allCases {
      let bytes = [UInt8](repeating: 64 + protection.rawValue, count: 32)
      keys[protection].active = try HeldKey(SecretKey(copying: bytes.span), for: protection)
    }
    if hasRetired {
      let old = try HeldKey(SecretKey(copying: [UInt8](repeating: 99, count: 32).span), for: .complete)
      keys[.complete].retired = [old]
    }
    let salt = [UInt8](repeating: 8, count: 32)
    let deviceKey = try ProtectedDevice.Key(copying: Sample.deviceKey.span)
    let keybagKey = SecretBox(try SecretKey(copying: [UInt8](repeating: 6, count: 32).span))
    self.keys = keys
    stretched =
      hasPasscode
      ? try StretchedPasscode(ProtectedDevice.Passcode("1234"), salt: salt, profile: .test)
      : try StretchedPasscode(noneWithSalt: salt)
    binding = try KeybagBinding(deviceKey, keybagKey)
    passcodeKey = try binding.passcodeKey(stretched)
    keybag = try keys.seal(
      identifier: Sample.identifier, revision: Sample.revision, isForTests: hasPasscode, binding: binding,
      stretched: stretched)
    effaceable = try Effaceable.encode(
      keybag: Sample.identifier, revision: Sample.revision, key: keybagKey, deviceKey: deviceKey
    ).withBytes { (bytes: Span<UInt8>) throws(SealingError) in bytes.copied() }
  }
}

private let samples = [
  try! Sample(hasPasscode: true, hasRetired: false), try! Sample(hasPasscode: false, hasRetired: false),
  try! Sample(hasPasscode: true, hasRetired: true),
]
