import FuzzSupport

@testable import DataProtection

/// Reads any bytes as ledgers and lists of slots, with their codes and without, in a store that has archives.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzLedger(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  let changes = Array(input[1...])
  let choice = input[0] >> 3
  switch input[0] % 4 {
  case 0: use(ledger, of: ledgerPath, changes, isAuthentic: true, choice)
  case 1: use(ledger, of: ledgerPath, changes, isAuthentic: false, choice)
  case 2: use(list, of: listPath, changes, isAuthentic: true, choice)
  default: use(list, of: listPath, changes, isAuthentic: false, choice)
  }
  return 0
}

private func use(_ valid: [UInt8], of path: String, _ changes: [UInt8], isAuthentic: Bool, _ choice: UInt8) {
  let keys = store.device.keys
  var bytes = valid.edited(by: changes)
  if isAuthentic {
    bytes = Array(bytes.dropLast(32))
    bytes += (try? keys.authenticationCode(.ledger, over: bytes)) ?? []
    if let ledger = try? Ledger(bytes, keys: keys) {
      precondition((try? Ledger(ledger.encoded(keys: keys), keys: keys)) == ledger)
    }
    if let list = try? SlotList(bytes, keys: keys) {
      precondition((try? SlotList(list.encoded(keys: keys), keys: keys)) == list)
    }
  }
  store.use(bytes, atPath: path, choice) { standing in
    precondition(
      isAuthentic || path != ledgerPath || bytes == valid || standing == .rollbackUnverifiable,
      "a forged ledger was taken")
  }
}

private let store = try! FuzzStore()
private let ledgerPath = try! store.device.path("ledger")
private let listPath = "/slots"
private let ledger = store.content(atPath: ledgerPath)
private let list = store.content(atPath: listPath)
