import Foundation

@testable import DataProtection

/// Reads any bytes as the header of each kind of sealed file; what is read must be written the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzzSealedFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 1 else { return 0 }
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start + 1, count: count - 1))
  let kinds = SealedFields.Kind.allCases
  let kind = unsafe kinds[Int(start[0]) % kinds.count]
  _ = try? SealedFileHeader(reading: bytes[...], kind: kind)
  // Magic and version are given, so that the fuzzer need not guess them.
  let likely = kind.magic + [1, 0] + bytes
  guard let header = try? SealedFileHeader(reading: likely[...], kind: kind) else { return 0 }
  let again = header.bytes
  precondition(likely.starts(with: again), "a header changes when it is read and written")
  return 0
}
