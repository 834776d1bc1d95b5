import FoundationEssentials
import Testing

@testable import DataProtection

/// What stands before the content of a generation saved while locked, byte by byte.
@Suite struct PendingPreambleTests {
  /// One that names one other, as the first layout had it.
  private var short: [UInt8] {
    var bytes: [UInt8] = [2, 7, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
    bytes += repeatElement(0xAA, count: 32)
    bytes += [9, 0, 0, 0, 0, 0, 0, 0]
    bytes += repeatElement(0xBB, count: 32)
    bytes += [6, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
    return bytes + repeatElement(0xCC, count: 16)
  }

  private func make(others: [UInt64], replaced: [UInt64] = []) -> PendingPreamble {
    PendingPreamble(
      kind: .touchedNodes,
      base: .init(
        generation: 5, commitment: Array(repeating: 0xAA, count: 32),
        journal: .init(index: 3, frameCount: 9, lastCommitment: Array(repeating: 0xBB, count: 32)), wasRead: true),
      run: Array(repeating: 0xCC, count: 16), included: 6, others: others, replaced: replaced)
  }

  private func fields(_ preamble: PendingPreamble) -> SealedFields {
    SealedFields(
      kind: .archive, protection: .completeUnlessOpen, identity: [], generation: 9, schema: 0, flags: preamble.flags,
      identifier: [])
  }

  @Test func `one that names one other has no list, and is laid out as it always was`() throws {
    let preamble = make(others: [8])
    #expect(Array(preamble.encoded) == short)
    #expect(try PendingPreamble(Data(short)) == preamble)
    #expect(preamble.flags == SealedFields.pendingFlag)
    #expect(fields(preamble).preambleByteCount == 120)
  }

  @Test func `the others but for the newest, and what is replaced, stand in a list behind it`() throws {
    let preamble = make(others: [1, 2, 8], replaced: [3])
    var bytes = short
    bytes[1] = 15
    bytes[2] = 2
    bytes[3] = 1
    for number in [1, 2, 3] as [UInt8] { bytes += [number, 0, 0, 0, 0, 0, 0, 0] }
    #expect(Array(preamble.encoded) == bytes)
    #expect(try PendingPreamble(Data(bytes)) == preamble)
    #expect(preamble.flags == SealedFields.pendingFlag | 3 << 8)
    #expect(fields(preamble).preambleByteCount == bytes.count)
    for count in bytes.indices {
      #expect(throws: ProtectionError.self) { _ = try PendingPreamble(Data(bytes.prefix(count))) }
    }
  }

  @Test func `it names as many as fit, the newest`() throws {
    let preamble = make(others: Array(1...300), replaced: Array(301...600))
    #expect(preamble.others == Array(174...300))
    #expect(try PendingPreamble(preamble.encoded) == preamble)
    #expect(fields(preamble).preambleByteCount == preamble.encoded.count)
  }
}
