#if canImport(Glibc)
import Glibc
#endif

/// How many of these bytes there are up to the last one that isn't zero; 0 when all of them are.
///
/// Space that was reserved and never written is mostly what is looked at, so that case is one comparison.
package func countUpToLastNonZero(_ bytes: ArraySlice<UInt8>) -> Int {
  unsafe bytes.withUnsafeBytes { buffer in
    guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
    // All bytes are equal when the bytes equal themselves moved by one.
    let isAllZero = unsafe buffer[0] == 0 && memcmp(start, start + 1, buffer.count - 1) == 0
    return isAllZero ? 0 : (unsafe buffer.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)
  }
}
