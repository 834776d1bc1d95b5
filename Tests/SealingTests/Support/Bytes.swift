import Foundation
import Sealing
import Synchronization

extension [UInt8] {
  /// The bytes that pairs of hexadecimal digits stand for.
  init(hex: String) {
    var digits = hex.utf8.makeIterator()
    self = []
    reserveCapacity(hex.utf8.count / 2)
    while let high = digits.next(), let low = digits.next() {
      append(Self.value(high) << 4 | Self.value(low))
    }
  }

  private static func value(_ digit: UInt8) -> UInt8 {
    digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : (digit | 0x20) - UInt8(ascii: "a") + 10
  }

  /// A key made of these 32 bytes.
  func key() throws -> SecretKey { try SecretKey(copying: span) }

  /// A secret made of these bytes.
  func secret() throws -> SecretBytes { try SecretBytes(copying: span) }
}

extension Secret where Self: ~Copyable {
  /// The secret's bytes, out of the arena: only for keys that tests made up.
  func revealed() throws -> [UInt8] {
    try withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
  }
}

/// Gives bytes that were laid down before, then counts on.
final class ScriptedRandom: RandomSource {
  private let rest: Mutex<[UInt8]>

  init(_ bytes: [UInt8] = []) {
    rest = Mutex(bytes)
  }

  func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
    rest.withLock { rest in
      for index in buffer.indices {
        unsafe buffer[index] = rest.isEmpty ? UInt8(truncatingIfNeeded: index &* 7 &+ 1) : rest.removeFirst()
      }
    }
  }
}

/// The code of a thrown error; `nil` when nothing was thrown.
func codeThrown(by body: () throws -> Void) -> SealingError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? SealingError)?.code
  }
}
