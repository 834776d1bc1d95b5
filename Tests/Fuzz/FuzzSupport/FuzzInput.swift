/// What the fuzzer gives a target, as bytes of our own; `nil` when there are fewer than the target needs.
///
/// - Parameters:
///   - start: Where the input begins.
///   - count: How long it is.
///   - least: How many bytes the target needs at least.
/// - Returns: The bytes.
package func fuzzInput(_ start: UnsafePointer<UInt8>?, _ count: Int, atLeast least: Int) -> [UInt8]? {
  guard let start = unsafe start, count >= least else { return nil }
  return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
}
