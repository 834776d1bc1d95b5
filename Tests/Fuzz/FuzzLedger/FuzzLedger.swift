import FaultyFileSystem
import Foundation
import FuzzSupport

@testable import DataProtection

/// Reads any bytes as ledgers and crash markers, without their codes, with them, and in a store that has archives.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzLedger(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  let rest = Array(input[1...])
  switch input[0] % 4 {
  case 0: readLedger(rest)
  case 1: useLedger(rest, isAuthentic: true, choice: input[0] >> 2)
  case 2: useLedger(rest, isAuthentic: false, choice: input[0] >> 2)
  default: readMarker(rest)
  }
  return 0
}

/// A ledger that is read must be written the same again.
private func readLedger(_ bytes: [UInt8]) {
  let code = [UInt8](repeating: 7, count: 32)
  _ = try? Ledger(bytes) { _ throws(ProtectionError) in code }
  // The code is given, so that the fuzzer need not guess it; and so is the length.
  var bytes = Ledger.magic + [1, 0] + bytes
  if bytes.count >= 16 {
    let length = bytes.count + code.count
    for index in 0..<4 { bytes[12 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
  }
  guard let ledger = try? Ledger(bytes + code, authenticate: { _ throws(ProtectionError) in code }) else { return }
  guard let again = try? ledger.encoded(authenticate: { _ throws(ProtectionError) in code }),
    let back = try? Ledger(again, authenticate: { _ throws(ProtectionError) in code })
  else { preconditionFailure("a ledger that was read can't be written") }
  precondition(back == ledger, "a ledger changes when it is written and read")
}

/// A store whose ledger was changed: what is found was saved once, and saving goes on, or is refused for a reason.
private func useLedger(_ changes: [UInt8], isAuthentic: Bool, choice: UInt8) {
  var bytes = valid.edited(by: changes)
  if isAuthentic {
    bytes = Array(bytes.dropLast(Ledger.codeByteCount))
    bytes += (try? device.keys.authenticationCode(.ledger, over: bytes)) ?? []
  }
  let memory = store.afterProcessDeath()
  memory.plant(bytes, atPath: FuzzDevice.path + "/ledger")
  guard let archives = try? device.archives(on: memory) else { return }
  if let opened = try? archives.openNewest() {
    let content = try? opened.readAll()
    precondition(content == Data("one".utf8) || content == Data("two".utf8) || content == Data("three".utf8))
    precondition(isAuthentic || bytes == valid || opened.standing == .rollbackUnverifiable, "a forged ledger was taken")
  }
  _ = try? archives.openPredecessor()
  _ = try? archives.listMaterial()
  let pending = try? archives.openPending().archives.first
  switch choice % 8 {
  case 0: if let pending { _ = try? archives.promotePending(pending) }
  case 1: if let pending { try? archives.discardPending(pending) }
  case 2: try? archives.setProtection(.none)
  case 3: try? archives.deleteAll()
  case 4: _ = try? archives.append(Data("frame".utf8))
  case 5: _ = try? archives.publishPending(Data("pending".utf8), kind: .touchedNodes)
  default: break
  }
  let new = Data("new".utf8)
  guard (try? archives.publish(new)) != nil else { return }
  let found = try? device.archives(on: memory, protection: archives.protection).openNewest()
  precondition((try? found?.readAll()) == new, "what was saved is not what is found")
  precondition(found?.standing == .current, "what was just saved is not known as the newest")
}

/// A marker is read whatever is in it, and says what was in it.
private func readMarker(_ bytes: [UInt8]) {
  let identity = [UInt8](repeating: 3, count: 32)
  _ = try? MarkerFile(bytes, identity: identity, keys: device.keys)
  guard bytes.count >= CrashMarker.bodyByteCount else { return }
  let body = Array(bytes.prefix(CrashMarker.bodyByteCount))
  guard let code = try? device.keys.authenticationCode(.marker, over: identity + body),
    let marker = try? CrashMarker(body + code.prefix(24), identity: identity, keys: device.keys)
  else { preconditionFailure("an authentic marker is not read") }
  let written = try? marker.encoded(identity: identity, keys: device.keys)
  precondition(written?.count == CrashMarker.byteCount)
  // Behind another one, whatever is there.
  _ = try? MarkerFile((written ?? []) + bytes, identity: identity, keys: device.keys)
  for boot in [marker.boot, [UInt8](repeating: 1, count: 16)] {
    _ = marker.meaning(for: marker.commitment, boot: boot)
    _ = marker.meaning(for: [UInt8](repeating: 1, count: 32), boot: boot)
  }
}

private let device = try! FuzzDevice()

/// A store with three generations by name, of which the ledger lists two, a journal, and a pending one.
private let store: MemoryFileSystem = {
  let memory = MemoryFileSystem()
  let archives = try! device.archives(on: memory)
  try! archives.publish(Data("one".utf8))
  try! archives.publish(Data("two".utf8))
  let kept = memory.afterProcessDeath()
  try! archives.publish(Data("three".utf8))
  try! archives.append(Data("frame".utf8))
  try! archives.publishPending(Data("pending".utf8), kind: .whole)
  for name in kept.names(atPath: FuzzDevice.path) where name.hasSuffix(".archive") {
    let path = "\(FuzzDevice.path)/\(name)"
    memory.plant(kept.content(atPath: path)!, atPath: path)
  }
  return memory
}()

private let valid = store.content(atPath: FuzzDevice.path + "/ledger")!
