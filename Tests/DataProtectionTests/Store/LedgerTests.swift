import FoundationEssentials
import Testing

@testable import DataProtection

@Suite struct LedgerTests {
  private func sample(_ count: Int) -> Ledger {
    var ledger = Ledger(keybag: KeybagIdentifier(bytes: [UInt8](repeating: 5, count: 16)), keybagRevision: 3)
    ledger.revision = 17
    ledger.highWater = 99
    for index in 0..<count {
      var entry = Ledger.Entry()
      let record = { (generation: UInt64, wasPending: Bool) in
        Ledger.Record(
          generation: generation, commitment: [UInt8](repeating: UInt8(index), count: 32),
          protection: .completeUnlessOpen, wasPending: wasPending)
      }
      entry.current = index % 3 == 0 ? nil : record(UInt64(index + 1), index % 2 == 0)
      entry.predecessor = index % 4 == 0 ? nil : record(UInt64(index), false)
      entry.pending = index % 5 == 0 ? record(UInt64(index + 50), true) : nil
      entry.floor = UInt64(index)
      entry.pendingFloor = UInt64(index * 2)
      entry.isDeleting = index % 7 == 0
      entry.isUnverified = index % 6 == 0
      ledger.entries[SlotName(identity: toyHash([UInt8(index)]))] = entry
    }
    return ledger
  }

  private func encode(_ ledger: Ledger) throws -> [UInt8] {
    try ledger.encoded { bytes throws(ProtectionError) in toyHash(bytes) }
  }

  private func decode(_ bytes: [UInt8]) throws(ProtectionError) -> Ledger {
    try Ledger(bytes) { bytes throws(ProtectionError) in toyHash(bytes) }
  }

  @Test(arguments: [0, 1, 2, 40])
  func `a ledger comes back as it was, and the same ledger has the same bytes`(_ count: Int) throws {
    let ledger = sample(count)
    let bytes = try encode(ledger)
    #expect(bytes.count == 96 + 184 * count)
    #expect(try decode(bytes) == ledger)
    #expect(try encode(try decode(bytes)) == bytes)
  }

  @Test func `every flipped bit is refused`() throws {
    let bytes = try encode(sample(2))
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: ProtectionError.self) { try decode(flipped) }
    }
  }

  @Test func `every length but the right one is refused`() throws {
    let bytes = try encode(sample(2))
    for length in 0..<bytes.count { #expect(throws: ProtectionError.self) { try decode(Array(bytes[..<length])) } }
    #expect(throws: ProtectionError.self) { try decode(bytes + [0]) }
  }

  @Test func `a lying count in an authentic ledger is refused`() throws {
    for count in [0, 1, 3, 65_537, UInt32.max] as [UInt32] {
      var bytes = Array(try encode(sample(2)).dropLast(32))
      for index in 0..<4 { bytes[56 + index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
      #expect(throws: ProtectionError.self) { try decode(bytes + toyHash(bytes)) }
    }
  }
}
