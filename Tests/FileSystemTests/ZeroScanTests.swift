import FileSystem
import Testing

@Suite struct ZeroScanTests {
  @Test func `the last byte that isn't zero is found exactly, in arrays and slices`() {
    for count in [0, 1, 2, 1023, 1024, 1025, 5000] {
      for last in [-1, 0, 1, 1022, 1023, 1024, count - 1] where last < count {
        var bytes = [UInt8](repeating: 0, count: count)
        if last >= 0 { bytes[last] = 1 }
        #expect(countUpToLastNonZero(bytes[...]) == last + 1, "\(count) bytes, the last at \(last)")
        #expect(countUpToLastNonZero(([7] + bytes)[1...]) == last + 1, "a slice of \(count) bytes")
      }
    }
  }
}
