#if canImport(Glibc)
import Glibc
#endif

/// How many of these bytes there are up to the last one that isn't zero; 0 when all of them are.
///
/// Most of the scanned space was reserved and never written, so whole blocks of it are compared at once.
package func countUpToLastNonZero(_ bytes: ArraySlice<UInt8>) -> Int {
  unsafe bytes.withUnsafeBytes { buffer in
    guard let start = buffer.baseAddress else { return 0 }
    var count = buffer.count
    // A block is all zero when it begins with zero and equals itself moved by one.
    while count > 1 {
      let block = min(count, 1024)
      let first = unsafe start + (count - block)
      guard unsafe buffer[count - block] == 0, unsafe memcmp(first, first + 1, block - 1) == 0 else { break }
      count -= block
    }
    return unsafe buffer[..<count].lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
  }
}
