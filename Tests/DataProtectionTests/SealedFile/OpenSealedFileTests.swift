import FoundationEssentials
import SeededRandom
import Testing

@testable import DataProtection

struct OpenSealedFileTests {
  let rig = SealedFileRig()

  @Test func `every kind of range gives the right bytes`() throws {
    let plaintext = SealedFileRig.plaintext(40 * 16384 + 77)
    let file = try rig.open(BytesSource(rig.seal(plaintext)))
    let edges = [0, 1, 16383, 16384, 16385, 3 * 16384, 20 * 16384 - 1, 20 * 16384, 40 * 16384, plaintext.count]
    for lower in edges {
      for upper in edges where upper >= lower {
        #expect(try file.read(lower..<upper) == plaintext[lower..<upper], "\(lower)..<\(upper)")
      }
    }
    var generator = SplitMix64(seed: 5)
    for _ in 0..<500 {
      let lower = Int.random(in: 0...plaintext.count, using: &generator)
      let upper = min(plaintext.count, lower + Int.random(in: 0...40_000, using: &generator))
      #expect(try file.read(lower..<upper) == plaintext[lower..<upper], "\(lower)..<\(upper)")
    }
  }

  @Test(arguments: [-1..<1, 0..<101, 101..<101, 100..<102, 5_000_000..<5_000_001])
  func `a range that isn't in the file is refused`(range: Range<Int>) throws {
    let file = try rig.open(BytesSource(rig.seal(SealedFileRig.plaintext(100))))
    #expect(protectionCode { () throws(ProtectionError) in _ = try file.read(range) } == .invalidArgument)
  }

  @Test func `reading a little decrypts only the chunks that hold it`() throws {
    let source = BytesSource(try rig.seal(SealedFileRig.plaintext(200 * 16384)))
    let file = try rig.open(source)
    // The final chunk, empty here, proves the length.
    #expect(file.chunksOpened == 1)
    #expect(source.readCount == 2)
    _ = try file.read(50 * 16384 + 10..<50 * 16384 + 300)
    #expect(file.chunksOpened == 2)
    _ = try file.read(50 * 16384 + 300..<51 * 16384)
    #expect(file.chunksOpened == 2)
    _ = try file.read(51 * 16384 - 1..<51 * 16384 + 1)
    #expect(file.chunksOpened == 3)
    #expect(source.readCount == 4)
  }

  @Test func `reading node by node decrypts each chunk once`() throws {
    let plaintext = SealedFileRig.plaintext(64 * 16384)
    let file = try rig.open(BytesSource(rig.seal(plaintext)))
    for start in stride(from: 0, to: plaintext.count, by: 512) {
      #expect(try file.read(start..<start + 512) == plaintext[start..<start + 512])
    }
    #expect(file.chunksOpened == 65)
  }

  @Test func `readers on several threads get the right bytes`() async throws {
    let plaintext = SealedFileRig.plaintext(30 * 16384)
    let file = try rig.open(BytesSource(rig.seal(plaintext)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<4 {
        group.addTask { () throws in
          var generator = SplitMix64(seed: UInt64(reader))
          for _ in 0..<300 {
            let lower = Int.random(in: 0..<plaintext.count - 1000, using: &generator)
            let part = try file.read(lower..<lower + 1000)
            #expect(part == plaintext[lower..<lower + 1000])
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
