import FuzzSupport

@testable import DataProtection

/// Reads any bytes as a crash marker: without a code in a store that has archives, and with one by itself.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzMarker(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  let rest = Array(input[1...])
  if input[0] % 2 == 0 {
    store.use(marker.edited(by: rest), atPath: markerPath, input[0] >> 3)
  } else {
    readMarker(rest)
  }
  return 0
}

/// A marker is read whatever is in it, and written the same again.
private func readMarker(_ bytes: [UInt8]) {
  let keys = store.device.keys
  let identity = [UInt8](repeating: 3, count: 32)
  var likely = Array(marker.prefix(SealedRecord.headerByteCount)) + bytes
  likely = Array((likely + [UInt8](repeating: 0, count: CrashMarker.byteCount)).prefix(CrashMarker.byteCount - 36))
  guard let code = try? keys.authenticationCode(.marker, over: likely + identity),
    let read = try? CrashMarker(
      likely + code + bytes.suffix(4) + [0, 0, 0, 0].dropFirst(min(bytes.count, 4)), identity: identity,
      keys: keys)
  else { return }
  guard let again = try? read.encoded(identity: identity, keys: keys) else {
    preconditionFailure("a marker that was read can't be written")
  }
  precondition((try? CrashMarker(again, identity: identity, keys: keys)) == read)
  _ = read.settled(boot: [UInt8](repeating: 1, count: 16))
}

private let store = try! FuzzStore()
private let markerPath = try! store.device.path("marker")
private let marker = store.content(atPath: markerPath)
