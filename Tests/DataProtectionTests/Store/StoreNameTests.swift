import Testing

@testable import DataProtection

@Suite struct StoreNameTests {
  private let slot = SlotName(identity: (0..<32).map { UInt8($0 * 7) })

  private var all: [StoreName] {
    [0, 1, 0xabc, .max].flatMap { number -> [StoreName] in
      [
        .generation(slot: slot, number: number, isPending: false),
        .generation(slot: slot, number: number, isPending: true),
        .journal(slot: slot, number: number, index: UInt32(truncatingIfNeeded: number)), .marker(slot: slot),
        .setAside(slot: slot, number: number), .ledgerSetAside(number: number), .temporary(number: number), .ledger,
        .lock,
      ]
    }
  }

  @Test func `every name is read back`() {
    for name in all { #expect(StoreName(name.text) == name) }
  }

  @Test func `anything that the store would not have written is no name of it`() {
    for name in all {
      let text = name.text
      for strange in [
        text + "x", "x" + text, text + ".archive", text.uppercased(), String(text.dropLast()), "./" + text,
      ]
      where strange != text {
        #expect(StoreName(strange) == nil, "\(strange)")
      }
    }
    for strange in [
      "", ".", "..", "-", "tmp-", "aside-", "aside--", ".archive", "tmp-0x00000000000000", "CACHEDIR.TAG",
    ] {
      #expect(StoreName(strange) == nil)
    }
  }

  @Test func `a slot's bytes and digits are the same`() {
    let bytes: [UInt8] = (0..<16).map { $0 * 7 }
    #expect(slot.bytes == bytes)
    #expect(slot.text.count == 32)
  }
}
