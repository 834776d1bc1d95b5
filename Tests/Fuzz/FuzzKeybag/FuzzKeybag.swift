import DataProtection

/// Feeds any bytes to everything that reads the files of keys: keybag, effaceable file, and both together.
///
/// The first byte chooses. Nothing may trap, and a keybag that is taken apart must be put together to the same bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzzKeybag(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = unsafe Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
  let deviceKey = [UInt8](repeating: 7, count: 32)
  switch unsafe start[0] % 3 {
  case 0:
    if let isCanonical = try? KeybagInspection.isCanonical(input) {
      precondition(isCanonical, "A keybag was accepted that would be written differently.")
    }
  case 1:
    let effaceable = Array(input.prefix(120))
    let opened = try? KeybagInspection.open(
      keybag: Array(input.dropFirst(120)), effaceable: effaceable, deviceKey: deviceKey)
    precondition(opened == nil, "A keybag was forged without its device key.")
  default:
    _ = try? ProtectedFileIndexInspection.open(input)
  }
  return 0
}
