import FoundationEssentials
import Testing

@testable import DataProtection

struct SealedFramesTests {
  let rig = SealedFileRig()
  let binding = [UInt8](repeating: 0xB1, count: 112)
  let none = [UInt8](repeating: 0, count: 32)

  private func journal(_ protection: ProtectionClass = .complete) throws(ProtectionError) -> any JournalSealing {
    try rig.sealer.makeJournal(rig.fields(protection, kind: .journal), binding: binding)
  }

  private func open(
    _ header: [UInt8], _ protection: ProtectionClass = .complete, binding: [UInt8]? = nil, identity: [UInt8]? = nil,
    generation: UInt64 = 7
  ) throws(ProtectionError) -> any JournalOpening {
    try rig.sealer.openJournal(
      header: header[...], binding: binding ?? self.binding, protection: protection,
      identity: identity ?? rig.identity, generation: generation)
  }

  @Test(arguments: ProtectionClass.allCases) func `frames open in their order`(protection: ProtectionClass) throws {
    let journal = try journal(protection)
    let opener = try open(journal.header, protection)
    #expect(opener.fields == rig.fields(protection, kind: .journal))
    var (sealedLast, openedLast) = (none, none)
    for (number, count) in [0, 1, 300, 16384, 70_000].enumerated() {
      let frame = SealedFileRig.plaintext(count)
      let sealed = try journal.seal(frame, number: UInt64(number), previous: sealedLast)
      let opened = try opener.open(sealed.message[...], number: UInt64(number), previous: openedLast)
      #expect(opened.frame == frame)
      #expect(opened.commitment == sealed.commitment)
      (sealedLast, openedLast) = (sealed.commitment, opened.commitment)
    }
  }

  @Test func `a small frame costs 72 bytes`() throws {
    let sealed = try journal().seal(Data(repeating: 1, count: 300), number: 0, previous: none)
    #expect(sealed.message.count == 300 + 24 + 32 + 16)
  }

  @Test func `a frame fits only where it was written`() throws {
    let journal = try journal()
    let first = try journal.seal(Data("first".utf8), number: 0, previous: none)
    let second = try journal.seal(Data("second".utf8), number: 1, previous: first.commitment)
    let other = try self.journal()
    func code(
      _ opener: any JournalOpening, _ message: [UInt8], _ number: UInt64, _ previous: [UInt8]
    ) -> ProtectionError.Code? {
      protectionCode { () throws(ProtectionError) in
        _ = try opener.open(message[...], number: number, previous: previous)
      }
    }
    let opener = try open(journal.header)
    #expect(code(opener, second.message, 1, first.commitment) == nil)
    #expect(code(opener, second.message, 0, none) == .corrupt)
    #expect(code(opener, second.message, 1, none) == .corrupt)
    #expect(code(opener, second.message, 2, first.commitment) == .corrupt)
    #expect(code(opener, first.message, 1, first.commitment) == .corrupt)
    #expect(code(try open(other.header), first.message, 0, none) == .corrupt)
    let otherBinding = [UInt8](repeating: 0xB2, count: 112)
    #expect(code(try open(journal.header, binding: otherBinding), first.message, 0, none) == .corrupt)
  }

  @Test func `every changed bit and every truncation of a frame is noticed`() throws {
    let journal = try journal()
    let message = try journal.seal(SealedFileRig.plaintext(200), number: 0, previous: none).message
    let opener = try open(journal.header)
    for bit in 0..<message.count * 8 {
      var changed = message
      changed[bit / 8] ^= 1 << (bit % 8)
      let code = protectionCode { () throws(ProtectionError) in
        _ = try opener.open(changed[...], number: 0, previous: none)
      }
      #expect(code == .corrupt)
    }
    for count in 0..<message.count {
      let code = protectionCode { () throws(ProtectionError) in
        _ = try opener.open(message[..<count], number: 0, previous: none)
      }
      #expect(code == .corrupt)
    }
  }

  @Test func `every changed bit of a journal's header is noticed before or with the first frame`() throws {
    let journal = try journal()
    let message = try journal.seal(Data("frame".utf8), number: 0, previous: none).message
    for bit in 0..<journal.header.count * 8 {
      var header = journal.header
      header[bit / 8] ^= 1 << (bit % 8)
      let code = protectionCode { () throws(ProtectionError) in
        _ = try open(header).open(message[...], number: 0, previous: none)
      }
      #expect(code != nil && code != .locked, "bit \(bit)")
    }
  }

  @Test func `a journal of another slot, generation or class is refused`() throws {
    let header = try journal().header
    func code(_ body: () throws(ProtectionError) -> any JournalOpening) -> ProtectionError.Code? {
      protectionCode { () throws(ProtectionError) in _ = try body() }
    }
    #expect(code { () throws(ProtectionError) in try open(header, identity: none) } == .wrongIdentity)
    #expect(code { () throws(ProtectionError) in try open(header, generation: 8) } == .rolledBack)
    #expect(code { () throws(ProtectionError) in try open(header, generation: 6) } == .wrongIdentity)
    #expect(code { () throws(ProtectionError) in try open(header, ProtectionClass.none) } == .wrongClass)
    #expect(code { () throws(ProtectionError) in try open(Array(header.dropLast())) } == .corrupt)
  }

  @Test func `a lock ends a complete journal, for writers and readers`() throws {
    let journal = try journal()
    let message = try journal.seal(Data("frame".utf8), number: 0, previous: none).message
    let opener = try open(journal.header)
    #expect(rig.keys.holderCount == 2)
    rig.keys.lock()
    rig.keys.unlock()
    #expect(
      protectionCode { () throws(ProtectionError) in
        _ = try journal.seal(Data(), number: 1, previous: none)
      } == .locked)
    #expect(
      protectionCode { () throws(ProtectionError) in
        _ = try opener.open(message[...], number: 0, previous: none)
      } == .locked)
  }
}
