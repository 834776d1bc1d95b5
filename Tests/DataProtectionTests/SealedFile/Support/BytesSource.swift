import FoundationEssentials
import Synchronization

@testable import DataProtection

/// A file in memory that can be damaged while it is open.
final class BytesSource: SealedSource {
  let byteCount: Int
  private let state: Mutex<(bytes: [UInt8], reads: Int)>

  init(_ bytes: [UInt8]) {
    byteCount = bytes.count
    state = Mutex((bytes, 0))
  }

  convenience init(_ data: Data) { self.init([UInt8](data)) }

  /// How often it was read.
  var readCount: Int { state.withLock { $0.reads } }

  /// Changes one bit; a second time changes it back.
  func flip(bit: Int) { state.withLock { $0.bytes[bit / 8] ^= 1 << (bit % 8) } }

  /// Makes the file shorter than it said it was.
  func shorten(to count: Int) { state.withLock { $0.bytes.removeSubrange(count...) } }

  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8] {
    state.withLock { state in
      state.reads += 1
      return Array(state.bytes[range.clamped(to: 0..<state.bytes.count)])
    }
  }
}
