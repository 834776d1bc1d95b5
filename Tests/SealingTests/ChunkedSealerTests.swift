import Sealing
import Testing

struct ChunkedSealerTests {
  let key: [UInt8] = (0..<32).map { UInt8($0) }
  let context = Array("context".utf8)

  /// More than one run of chunks.
  let plaintext = [UInt8](repeating: 7, count: 3 << 20)

  private func seal(with sealer: ChunkedSealer) throws -> [UInt8] {
    var message = [UInt8](repeating: 0, count: ChunkedEncryption.sealedByteCount(of: plaintext.count))
    let outcome = unsafe message.withUnsafeMutableBytes { target in
      Result { () throws(SealingError) in try unsafe sealer.seal(plaintext.span, into: target) }
    }
    try outcome.get()
    return message
  }

  @Test func `a message of several runs opens again`() throws {
    let sealer = try ChunkedSealer(key: key.key(), context: context.span, random: SystemRandom())
    let message = try seal(with: sealer)
    #expect(try ChunkedEncryption.open(message.span, key: key.key(), context: context.span) == plaintext)
    #expect(Array(message[24..<56]) == sealer.commitment)
  }

  @Test func `after a wipe nothing more is sealed`() throws {
    let sealer = try ChunkedSealer(key: key.key(), context: context.span, random: SystemRandom())
    sealer.wipe()
    let error = #expect(throws: SealingError.self) { try seal(with: sealer) }
    #expect(error?.code == .keyWiped)
  }
}
