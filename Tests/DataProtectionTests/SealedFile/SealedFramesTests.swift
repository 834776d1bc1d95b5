import FoundationEssentials
import Testing

@testable import DataProtection

struct SealedFramesTests {
  let rig = SealedFileRig()

  /// A sealed generation, and its frames as its writer and a reader have them.
  private func sealed(
    _ protection: ProtectionClass = .complete, generation: UInt64 = 7
  ) throws -> (writer: SealedBytes, reader: OpenSealedFile) {
    let writer = try rig.sealer.seal(Data("base".utf8), rig.fields(protection, generation: generation))
    return (writer, try rig.open(BytesSource(writer.bytes), protection, generation: generation))
  }

  @Test(arguments: ProtectionClass.allCases) func `frames open in their order`(protection: ProtectionClass) throws {
    let (writer, reader) = try sealed(protection)
    var (sealedLast, openedLast) = (writer.commitment, reader.commitment)
    for (number, count) in [0, 1, 300, 16384, 70_000].enumerated() {
      let frame = SealedFileRig.plaintext(count)
      let sealed = try writer.frames.seal(frame, number: UInt64(number + 1), previous: sealedLast)
      let opened = try reader.frames.open(sealed.message[...], number: UInt64(number + 1), previous: openedLast)
      #expect(opened.frame == frame)
      #expect(opened.commitment == sealed.commitment)
      (sealedLast, openedLast) = (sealed.commitment, opened.commitment)
    }
  }

  @Test func `a small frame costs 72 bytes`() throws {
    let writer = try sealed().writer
    let frame = try writer.frames.seal(Data(repeating: 1, count: 300), number: 1, previous: writer.commitment)
    #expect(frame.message.count == 300 + 24 + 32 + 16)
  }

  @Test func `a frame fits only where it was written`() throws {
    let (writer, reader) = try sealed()
    let base = writer.commitment
    let first = try writer.frames.seal(Data("first".utf8), number: 1, previous: base)
    let second = try writer.frames.seal(Data("second".utf8), number: 2, previous: first.commitment)
    let other = try sealed(generation: 8).reader
    func code(
      _ frames: any FrameSealing, _ message: [UInt8], _ number: UInt64, _ previous: [UInt8]
    ) -> ProtectionError.Code? {
      protectionCode { () throws(ProtectionError) in
        _ = try frames.open(message[...], number: number, previous: previous)
      }
    }
    #expect(code(reader.frames, second.message, 2, first.commitment) == nil)
    #expect(code(reader.frames, second.message, 1, base) == .corrupt)
    #expect(code(reader.frames, second.message, 2, base) == .corrupt)
    #expect(code(reader.frames, second.message, 3, first.commitment) == .corrupt)
    #expect(code(reader.frames, first.message, 2, first.commitment) == .corrupt)
    #expect(code(other.frames, first.message, 1, base) == .corrupt)
    // Nor is the base a frame.
    let message = Array([UInt8](writer.bytes).dropFirst(80))
    #expect(code(reader.frames, message, 1, base) == .corrupt)
  }

  @Test func `every changed bit and every truncation of a frame is noticed`() throws {
    let (writer, reader) = try sealed()
    let message = try writer.frames.seal(SealedFileRig.plaintext(200), number: 1, previous: writer.commitment).message
    for bit in 0..<message.count * 8 {
      var changed = message
      changed[bit / 8] ^= 1 << (bit % 8)
      let code = protectionCode { () throws(ProtectionError) in
        _ = try reader.frames.open(changed[...], number: 1, previous: reader.commitment)
      }
      #expect(code == .corrupt)
    }
    for count in 0..<message.count {
      let code = protectionCode { () throws(ProtectionError) in
        _ = try reader.frames.open(message[..<count], number: 1, previous: reader.commitment)
      }
      #expect(code == .corrupt)
    }
  }

  @Test func `a lock ends the frames of a complete generation, for writers and readers`() throws {
    let (writer, reader) = try sealed()
    let message = try writer.frames.seal(Data("frame".utf8), number: 1, previous: writer.commitment).message
    rig.keys.lock()
    rig.keys.unlock()
    #expect(
      protectionCode { () throws(ProtectionError) in
        _ = try writer.frames.seal(Data(), number: 2, previous: writer.commitment)
      } == .locked)
    #expect(
      protectionCode { () throws(ProtectionError) in
        _ = try reader.frames.open(message[...], number: 1, previous: reader.commitment)
      } == .locked)
  }
}
