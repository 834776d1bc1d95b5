import Sealing
import TestTraits
import Testing

struct ChunkedEncryptionTests {
  let key: [UInt8] = (0..<32).map { UInt8($0) }
  let context = Array("context".utf8)

  private func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
    try ChunkedEncryption.seal(
      plaintext.span, key: key.key(), context: context.span, random: SystemRandom()
    ).bytes
  }

  private func open(_ message: [UInt8]) throws -> [UInt8] {
    try ChunkedEncryption.open(message.span, key: key.key(), context: context.span)
  }

  @Test(.notUnderAddressSanitizer("the same code, thousands of times"))
  func `messages agree with an independent implementation, byte for byte`() async throws {
    for vector in CommittedVectors.all.chunked {
      let key = try [UInt8](hex: vector.key).key()
      let context = [UInt8](hex: vector.context)
      let sealed = try ChunkedEncryption.seal(
        vector.plaintext.span, key: key, context: context.span, random: ScriptedRandom([UInt8](hex: vector.salt)))
      #expect(sealed.commitment == [UInt8](hex: vector.commitment))
      #expect(sealed.bytes.count == vector.messageByteCount)
      #expect(await sha512(sealed.bytes) == vector.messageSHA512)
      if let message = vector.message { #expect(sealed.bytes == [UInt8](hex: message)) }
      #expect(try ChunkedEncryption.open(sealed.bytes.span, key: key, context: context.span) == vector.plaintext)
    }
  }

  @Test(arguments: [0, 1, 16383, 16384, 16385, 32767, 32768, 50000])
  func `lengths are computed both ways`(count: Int) throws {
    let message = try seal([UInt8](repeating: 7, count: count))
    #expect(message.count == ChunkedEncryption.sealedByteCount(of: count))
    #expect(ChunkedEncryption.plaintextByteCount(ofMessage: message.count) == count)
    #expect(try open(message) == [UInt8](repeating: 7, count: count))
  }

  @Test func `a length that no message has is recognised`() {
    for count in [-1, 0, 55, 56, 71, 56 + 16400, 56 + 16400 + 15, 56 + 2 * 16400] {
      #expect(ChunkedEncryption.plaintextByteCount(ofMessage: count) == nil)
    }
    #expect(ChunkedEncryption.plaintextByteCount(ofMessage: 72) == 0)
    #expect(ChunkedEncryption.plaintextByteCount(ofMessage: .max) == nil)
  }

  @Test func `every truncation of a short message is refused`() throws {
    let message = try seal(Array("some state".utf8))
    for count in 0..<message.count {
      #expect(codeThrown { _ = try open(Array(message.prefix(count))) } == .authenticationFailed)
    }
    #expect(codeThrown { _ = try open(message + [0]) } == .authenticationFailed)
  }

  @Test func `another key, another context, or another message's salt opens nothing`() throws {
    let message = try seal(Array("some state".utf8))
    let other = try seal(Array("some state".utf8))
    let wrongKey = try [UInt8](repeating: 9, count: 32).key()
    let withOtherKey = codeThrown {
      _ = try ChunkedEncryption.open(message.span, key: wrongKey, context: context.span)
    }
    #expect(withOtherKey == .authenticationFailed)
    let nothing: [UInt8] = []
    let withOtherContext = codeThrown {
      _ = try ChunkedEncryption.open(message.span, key: key.key(), context: nothing.span)
    }
    #expect(withOtherContext == .authenticationFailed)
    let spliced = Array(message.prefix(56)) + other.dropFirst(56)
    #expect(codeThrown { _ = try open(spliced) } == .authenticationFailed)
    #expect(message != other)
  }

  @Test func `no two messages have the same salt`() throws {
    var salts: Set<[UInt8]> = []
    for _ in 0..<100 { salts.insert(Array(try seal([1]).prefix(24))) }
    #expect(salts.count == 100)
  }

  @Test func `chunks open alone, in any order, and in runs`() throws {
    let plaintext = (0..<50000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let message = try seal(plaintext)
    let opener = try ChunkedOpener(
      prefix: Array(message.prefix(56)).span, messageByteCount: message.count, key: key.key(), context: context.span)
    #expect(opener.chunkCount == 4)
    #expect(opener.plaintextByteCount == plaintext.count)
    for chunk in [3, 0, 2, 1, 1] {
      let sealed = Array(message[opener.messageRange(ofChunks: chunk..<chunk + 1)])
      let opened = try opener.openChunk(chunk, of: sealed.span)
      #expect(opened == Array(plaintext[opener.plaintextRange(ofChunks: chunk..<chunk + 1)]))
    }
    for other in 1..<3 {
      let sealed = Array(message[opener.messageRange(ofChunks: other..<other + 1)])
      #expect(codeThrown { _ = try opener.openChunk(0, of: sealed.span) } == .authenticationFailed)
    }
  }

  @Test(.notUnderAddressSanitizer("the same code, thousands of times"))
  func `every changed bit of a message of three chunks is noticed, and none of its plaintext given out`() throws {
    let plaintext = [UInt8](repeating: 7, count: 2 * 16384 + 500)
    var message = try seal(plaintext)
    for bit in 0..<56 * 8 {
      message[bit / 8] ^= 1 << (bit % 8)
      #expect(codeThrown { _ = try open(message) } == .authenticationFailed)
      message[bit / 8] ^= 1 << (bit % 8)
    }
    let opener = try ChunkedOpener(
      prefix: Array(message.prefix(56)).span, messageByteCount: message.count, key: key.key(), context: context.span)
    var unnoticed = 0
    for chunk in 0..<3 {
      var sealed = Array(message[opener.messageRange(ofChunks: chunk..<chunk + 1)])
      var target = [UInt8](repeating: 0, count: opener.plaintextRange(ofChunks: chunk..<chunk + 1).count)
      for bit in 0..<sealed.count * 8 {
        sealed[bit / 8] ^= 1 << (bit % 8)
        let code = codeThrown {
          try unsafe target.withUnsafeMutableBytes { target in
            try unsafe opener.openChunks(chunk..<chunk + 1, of: sealed.span, into: target)
          }
        }
        if code != .authenticationFailed || target[bit % target.count] != 0 { unnoticed += 1 }
        sealed[bit / 8] ^= 1 << (bit % 8)
      }
    }
    #expect(unnoticed == 0)
    #expect(try open(message) == plaintext)
  }

  @Test func `a failed run leaves none of its plaintext`() throws {
    var message = try seal([UInt8](repeating: 7, count: 40000))
    message[message.count - 1] ^= 1
    let opener = try ChunkedOpener(
      prefix: Array(message.prefix(56)).span, messageByteCount: message.count, key: key.key(), context: context.span)
    var target = [UInt8](repeating: 0xEE, count: 40000)
    let code = codeThrown {
      try unsafe target.withUnsafeMutableBytes { target in
        try unsafe opener.openChunks(0..<3, of: message.span.extracting(droppingFirst: 56), into: target)
      }
    }
    #expect(code == .authenticationFailed)
    #expect(target.allSatisfy { $0 == 0 })
  }

  @Test func `nothing opens after a wipe`() throws {
    let message = try seal([1, 2, 3])
    let opener = try ChunkedOpener(
      prefix: Array(message.prefix(56)).span, messageByteCount: message.count, key: key.key(), context: context.span)
    let sealed = Array(message.dropFirst(56))
    #expect(try opener.openChunk(0, of: sealed.span) == [1, 2, 3])
    #expect(!opener.isWiped)
    opener.wipe()
    #expect(opener.isWiped)
    #expect(codeThrown { _ = try opener.openChunk(0, of: sealed.span) } == .keyWiped)
  }

  @Test func `a random source that fails seals nothing`() throws {
    struct Failing: RandomSource {
      func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
        throw SealingError(.randomUnavailable, "none")
      }
    }
    let plaintext: [UInt8] = []
    let key = try key.key()
    let code = codeThrown {
      _ = try ChunkedEncryption.seal(plaintext.span, key: key, context: plaintext.span, random: Failing())
    }
    #expect(code == .randomUnavailable)
  }

  @Test func `system random fills every length`() throws {
    for count in [0, 1, 255, 256, 257, 1000] {
      let bytes = try SystemRandom().bytes(count: count)
      #expect(bytes.count == count)
      if count > 100 { #expect(Set(bytes).count > 20) }
    }
  }
}
