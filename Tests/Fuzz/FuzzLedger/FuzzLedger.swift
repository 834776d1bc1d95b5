import FaultyFileSystem
import Foundation
import FuzzSupport

@testable import DataProtection

/// Reads any bytes as ledgers, lists of slots and crash markers, with their codes and without, in a store that has archives.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzLedger(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  let rest = Array(input[1...])
  let choice = input[0] >> 3
  switch input[0] % 6 {
  case 0: use(ledger, of: ledgerPath, rest, isAuthentic: true, choice)
  case 1: use(ledger, of: ledgerPath, rest, isAuthentic: false, choice)
  case 2: use(list, of: "/slots", rest, isAuthentic: true, choice)
  case 3: use(list, of: "/slots", rest, isAuthentic: false, choice)
  case 4: use(marker, of: markerPath, rest, isAuthentic: false, choice)
  default: readMarker(rest)
  }
  return 0
}

/// A store of which one file was changed: what is found was saved once, and saving goes on, or is refused for a reason.
private func use(_ valid: [UInt8], of path: String, _ changes: [UInt8], isAuthentic: Bool, _ choice: UInt8) {
  var bytes = valid.edited(by: changes)
  if isAuthentic {
    bytes = Array(bytes.dropLast(32))
    bytes += (try? device.keys.authenticationCode(.ledger, over: bytes)) ?? []
    if let ledger = try? Ledger(bytes, keys: device.keys) {
      precondition((try? Ledger(ledger.encoded(keys: device.keys), keys: device.keys)) == ledger)
    }
    if let list = try? SlotList(bytes, keys: device.keys) {
      precondition((try? SlotList(list.encoded(keys: device.keys), keys: device.keys)) == list)
    }
  }
  let memory = store.afterProcessDeath()
  memory.plant(bytes, atPath: path)
  guard let archives = try? device.archives(on: memory) else { preconditionFailure("the slot can't be had") }
  if let opened = try? archives.openNewest() {
    let content = try? opened.readAll()
    precondition(content == Data("one".utf8) || content == Data("two".utf8) || content == Data("three".utf8))
    precondition(
      isAuthentic || path != ledgerPath || bytes == valid || opened.standing == .rollbackUnverifiable,
      "a forged ledger was taken")
    _ = try? archives.attempts(at: opened)
    if let attempt = try? archives.beginAttempt(at: opened) {
      attempt.note(node: 7)
      attempt.end()
    }
    if choice % 4 == 0 { _ = try? archives.append(Data("frame".utf8), to: opened.generation) }
  }
  _ = try? archives.openPredecessor()
  for record in (try? archives.setAsideRecords()) ?? [] {
    _ = try? archives.openSetAside(Generation(rawValue: record.generation))
  }
  let pending = (try? archives.openPending().archives.map(\.generation)) ?? []
  switch choice % 4 {
  case 1: _ = try? archives.publishPending(Data("pending".utf8))
  case 2: try? archives.requireDurable()
  case 3: try? archives.deleteAll()
  default: break
  }
  let new = Data("new".utf8)
  guard (try? archives.publish(new, ArchiveSuccession(consuming: pending))) != nil else { return }
  archives.close()
  let found = try? device.archives(on: memory).openNewest()
  precondition((try? found?.readAll()) == new, "what was saved is not what is found")
  precondition(found?.standing == .current, "what was just saved is not known as the newest")
}

/// A marker is read whatever is in it, and written the same again.
private func readMarker(_ bytes: [UInt8]) {
  let identity = [UInt8](repeating: 3, count: 32)
  var likely = Array(marker.prefix(SealedRecord.headerByteCount)) + bytes
  likely = Array((likely + [UInt8](repeating: 0, count: CrashMarker.byteCount)).prefix(CrashMarker.byteCount - 36))
  guard let code = try? device.keys.authenticationCode(.marker, over: likely + identity),
    let read = try? CrashMarker(
      likely + code + bytes.suffix(4) + [0, 0, 0, 0].dropFirst(min(bytes.count, 4)), identity: identity,
      keys: device.keys)
  else { return }
  guard let again = try? read.encoded(identity: identity, keys: device.keys) else {
    preconditionFailure("a marker that was read can't be written")
  }
  precondition((try? CrashMarker(again, identity: identity, keys: device.keys)) == read)
  _ = read.settled(boot: [UInt8](repeating: 1, count: 16))
}

private let device = try! FuzzDevice()
private let ledgerPath = try! device.path("ledger")
private let markerPath = try! device.path("marker")

/// A store with three generations, one of them set aside, a frame, a pending one and a marker.
private let store: MemoryFileSystem = {
  let memory = MemoryFileSystem()
  let archives = try! device.archives(on: memory)
  let one = try! archives.publish(Data("one".utf8)).generation
  try! archives.publish(Data("two".utf8), ArchiveSuccession(retiring: [one]))
  let three = try! archives.publish(Data("three".utf8)).generation
  _ = try! archives.append(Data("frame".utf8), to: three)
  try! archives.publishPending(Data("pending".utf8))
  try! archives.beginAttempt(at: archives.openNewest()).note(node: 3)
  return memory.afterProcessDeath()
}()

private let ledger = store.content(atPath: ledgerPath)!
private let list = store.content(atPath: "/slots")!
private let marker = store.content(atPath: markerPath)!
