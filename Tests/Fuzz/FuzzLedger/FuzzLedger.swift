import DataProtection
import Foundation

/// Reads any bytes as a ledger, with and without a code that fits; what is read must be written the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzzLedger(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 0 else { return 0 }
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  _ = try? Ledger(bytes) { _ throws(ProtectionError) in code }
  // The code is given, so that the fuzzer need not guess it.
  guard let ledger = try? Ledger(bytes + code, authenticate: { _ throws(ProtectionError) in code }) else { return 0 }
  guard let again = try? ledger.encoded(authenticate: { _ throws(ProtectionError) in code }),
    let back = try? Ledger(again, authenticate: { _ throws(ProtectionError) in code })
  else { preconditionFailure("a ledger that was read can't be written") }
  precondition(back == ledger, "a ledger changes when it is written and read")
  return 0
}

private let code = [UInt8](repeating: 7, count: 32)
