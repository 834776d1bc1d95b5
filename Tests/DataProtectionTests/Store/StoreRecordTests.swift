import FoundationEssentials
import Testing

@testable import DataProtection

/// The store's own small files: ledger, list of slots, crash marker.
@Suite struct StoreRecordTests {
  let keys = ToyKeys()
  let identity = [UInt8](repeating: 7, count: 32)

  private var ledger: Ledger {
    var ledger = Ledger(identity: identity, epoch: [UInt8](repeating: 3, count: 8))
    func record(_ number: UInt64) -> Ledger.Record {
      Ledger.Record(
        generation: number, commitment: [UInt8](repeating: UInt8(number), count: 32), protection: .complete,
        flags: .oneWay, byteCount: 1000 + number)
    }
    ledger.counter = 9
    ledger.keybagRevision = 4
    ledger.current = record(9)
    ledger.predecessor = record(8)
    ledger.pending = [record(5), record(6)]
    ledger.setAside = [record(1), record(2)]
    ledger.sealedName = Array("a sealed name".utf8)
    return ledger
  }

  private var list: SlotList {
    var list = SlotList()
    list.keybagRevision = 3
    list.wasRebuilt = true
    for number in UInt8(0)..<3 {
      list.entries[SlotName(identity: [UInt8](repeating: number, count: 16))] =
        SlotList.Entry(epoch: [UInt8](repeating: number, count: 8), isNew: number == 1)
    }
    return list
  }

  private var marker: CrashMarker {
    var marker = CrashMarker()
    for number in UInt8(0)..<20 {
      marker.begin([UInt8](repeating: number, count: 32), isRequest: number % 2 == 0, boot: keys.bootIdentifier)
      marker = marker.settled(boot: keys.bootIdentifier)
    }
    marker.begin([UInt8](repeating: 3, count: 32), isRequest: false, boot: keys.bootIdentifier)
    marker.running = 77
    return marker
  }

  @Test func `a ledger whose counter is behind its generations is corrupt`() throws {
    for counter: UInt64 in [0, 1] {
      var behind = ledger
      behind.counter = counter
      #expect(try errorCode { try Ledger(behind.encoded(keys: keys), keys: keys) } == .corrupt)
    }
  }

  private func part(_ place: UInt8, _ number: UInt64) -> Ledger.Part {
    Ledger.Part(
      place: PartPlace(rawValue: place)!, number: number, commitment: [UInt8](repeating: place, count: 32),
      protection: .complete, byteCount: number)
  }

  @Test func `a generation has one to four parts, the root first, in rising places`() throws {
    func read(_ parts: [Ledger.Part], _ change: (inout Ledger) -> Void = { _ in }) throws -> ProtectionError.Code? {
      var changed = ledger
      changed.current = Ledger.Record(generation: 9, parts: parts)
      change(&changed)
      return try errorCode {
        let read = try Ledger(changed.encoded(keys: keys), keys: keys)
        #expect(read == changed)
      }
    }
    let four = [part(0, 9), part(1, 8), part(2, 7), part(3, 6)]
    for count in 1...4 { #expect(try read(Array(four[..<count])) == nil) }
    #expect(try read([part(0, 9), part(3, 2)]) == nil)
    #expect(try read([]) == .corrupt)
    #expect(try read(four + [part(3, 5)]) == .corrupt)
    #expect(try read([part(1, 9)]) == .corrupt)
    #expect(try read([part(0, 9), part(2, 8), part(1, 7)]) == .corrupt)
    #expect(try read([part(0, 9), part(1, 9)]) == .corrupt)
    #expect(try read([part(0, 9), part(1, 10)]) == .corrupt)
    #expect(try read([part(0, 0)]) == .corrupt)
    #expect(try read(four) { $0.pending[0].parts = four } == .corrupt)
    #expect(try read(four) { $0.setAside[0].parts = four } == nil)
    #expect(try read(four) { $0.owesRemoval = true } == nil)
  }

  @Test func `what is written is read again`() throws {
    #expect(try Ledger(ledger.encoded(keys: keys), keys: keys) == ledger)
    #expect(try SlotList(list.encoded(keys: keys), keys: keys) == list)
    let bytes = try marker.encoded(identity: identity, keys: keys)
    #expect(bytes.count == CrashMarker.byteCount)
    #expect(try CrashMarker(bytes, identity: identity, keys: keys) == marker)
    #expect(marker.records.count == CrashMarker.limit)
  }

  @Test func `every flipped byte and every truncation of the ledger and the list is noticed`() throws {
    let files: [([UInt8], ([UInt8]) throws -> Void)] = [
      (try ledger.encoded(keys: keys), { _ = try Ledger($0, keys: keys) }),
      (try list.encoded(keys: keys), { _ = try SlotList($0, keys: keys) }),
    ]
    for (bytes, read) in files {
      for offset in bytes.indices {
        var changed = bytes
        changed[offset] ^= 1
        let code = try errorCode { try read(changed) }
        // The keybag's identifier is not this device's then.
        #expect(code == ((12..<28).contains(offset) ? .otherDevice : .corrupt), "byte \(offset)")
        #expect(try errorCode { try read(Array(bytes[..<offset])) } != nil)
      }
      #expect(try errorCode { try read(bytes + [0]) } == .corrupt)
    }
  }

  @Test func `a layout of the future is told from a damaged version`() throws {
    var future = try ledger.encoded(keys: keys)
    future[8] = 2
    #expect(try errorCode { try Ledger(future, keys: keys) } == .corrupt)
    future = Array(future.dropLast(32))
    future += try keys.authenticationCode(.ledger, over: future)
    #expect(try errorCode { try Ledger(future, keys: keys) } == .unsupportedVersion)
  }

  @Test func `of a marker only the node that runs may be changed by anybody`() throws {
    let bytes = try marker.encoded(identity: identity, keys: keys)
    for offset in bytes.indices {
      var changed = bytes
      changed[offset] ^= 1
      let code = try errorCode { try CrashMarker(changed, identity: identity, keys: keys) }
      if offset >= bytes.count - 4 {
        #expect(code == nil)
      } else {
        #expect(code == ((12..<28).contains(offset) ? .otherDevice : .corrupt), "byte \(offset)")
      }
    }
    #expect(
      try errorCode { try CrashMarker(bytes, identity: Array(identity.dropLast() + [0]), keys: keys) } == .corrupt)
  }

  @Test func `a name in a slot is only what the store would have written`() {
    for text in ["g-0", "g-01", "g-+1", "g-", "g-18446744073709551616", "p-x", "G-1", "ledger ", "g-1.pending"] {
      #expect(SlotFile(text) == nil, "\(text)")
    }
    for file in [SlotFile.generation(1), .generation(.max), .pending(7), .ledger, .newLedger, .marker] {
      #expect(SlotFile(file.text) == file)
    }
    #expect(SlotName(String(repeating: "0A", count: 16)) == nil)
    #expect(SlotName(String(repeating: "0a", count: 16))?.text == String(repeating: "0a", count: 16))
    #expect(SlotName(String(repeating: "0a", count: 15)) == nil)
  }
}
