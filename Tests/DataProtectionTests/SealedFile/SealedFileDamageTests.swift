import FoundationEssentials
import Sealing
import SeededRandom
import Testing

@testable import DataProtection

/// Every way of damaging a file of three chunks, and what comes of each.
struct SealedFileDamageTests {
  static let plaintext = SealedFileRig.plaintext(2 * 16384 + 500)
  let rig = SealedFileRig()

  /// What a changed bit in the header or in front of the chunks must lead to.
  private func expectedOutcome(ofBit bit: Int) -> ProtectionError.Code {
    switch bit / 8 {
    // Format 1 with one bit changed is 0, which never was, or a later one.
    case 8..<10: bit == 64 ? .corrupt : .unsupportedVersion
    // Class 1 with one bit changed is 0 or 3, or none that exists.
    case 10: bit == 81 ? .wrongClass : .corrupt
    case 16..<32: .otherDevice
    default: .corrupt
    }
  }

  @Test func `every changed bit before the chunks and in the final one is noticed at opening`() throws {
    let bytes = try rig.seal(Self.plaintext)
    let chunks = 80 + 56
    let final = chunks + 2 * 16400
    var checked = 0
    for bit in Array(0..<chunks * 8) + Array(final * 8..<bytes.count * 8) {
      let source = BytesSource(bytes)
      source.flip(bit: bit)
      let code = protectionCode { () throws(ProtectionError) in _ = try rig.open(source) }
      #expect(code == (bit < chunks * 8 ? expectedOutcome(ofBit: bit) : .corrupt), "bit \(bit)")
      checked += 1
    }
    #expect(checked == (80 + 56 + 500 + 16) * 8)
  }

  // Every single bit of the chunks is changed in ``ChunkedEncryptionTests``, where it costs a tenth.
  @Test func `every changed byte of the other chunks is noticed when that chunk is read, and only then`() throws {
    let source = BytesSource(try rig.seal(Self.plaintext))
    let file = try rig.open(source)
    var unnoticed = 0
    for chunk in 0..<2 {
      let start = 80 + 56 + chunk * 16400
      for byte in start..<start + 16400 {
        let bit = byte * 8 + byte % 8
        source.flip(bit: bit)
        let range = chunk * 16384..<chunk * 16384 + 1
        let code = protectionCode { () throws(ProtectionError) in _ = try file.read(range) }
        if code != .corrupt { unnoticed += 1 }
        source.flip(bit: bit)
      }
    }
    #expect(unnoticed == 0)
    #expect(try file.read(0..<file.byteCount) == Self.plaintext)
  }

  @Test func `every truncation is noticed at opening`() throws {
    let bytes = try rig.seal(Self.plaintext)
    for count in 0..<bytes.count {
      let code = protectionCode { () throws(ProtectionError) in
        _ = try rig.open(BytesSource(Array(bytes[..<count])))
      }
      guard code != .corrupt else { continue }
      Issue.record("\(count) bytes: \(code.map(\.description) ?? "it opened")")
    }
  }

  @Test func `bytes added to a protected file are noticed at opening`() throws {
    let bytes = try rig.seal(Self.plaintext, rig.fields(kind: .file))
    for count in [1, 15, 16, 17, 500, 15868, 15869, 16400, 40000] {
      let source = BytesSource(bytes + SealedFileRig.plaintext(count))
      #expect(protectionCode { () throws(ProtectionError) in _ = try rig.open(source, kind: .file) } == .corrupt)
    }
  }

  @Test func `bytes behind the base of an archive are no part of it`() throws {
    let bytes = try rig.seal(Self.plaintext)
    for count in [1, 16, 500, 16400] {
      let file = try rig.open(BytesSource(bytes + SealedFileRig.plaintext(count)))
      #expect(file.endOffset == bytes.count)
      #expect(try file.read(0..<file.byteCount) == Self.plaintext)
    }
  }

  @Test func `a file that becomes shorter while it is open is corrupt`() throws {
    let source = BytesSource(try rig.seal(Self.plaintext))
    let file = try rig.open(source)
    source.shorten(to: 1000)
    #expect(protectionCode { () throws(ProtectionError) in _ = try file.read(0..<10) } == .corrupt)
    // The final chunk was kept when it proved the length.
    #expect(try file.read(2 * 16384..<file.byteCount) == Self.plaintext.suffix(500))
  }

  @Test func `chunks swapped, repeated or taken from another file are corrupt`() throws {
    let bytes = try rig.seal(Self.plaintext)
    let other = try rig.seal(Self.plaintext)
    let start = 80 + 56
    let (first, second) = (bytes[start..<start + 16400], bytes[start + 16400..<start + 32800])
    let head = Array(bytes[..<start])
    let tail = Array(bytes[(start + 32800)...])
    #expect(rig.outcome(head + second + first + tail) == .corrupt)
    #expect(rig.outcome(head + first + first + tail) == .corrupt)
    #expect(rig.outcome(head + first + tail) == .corrupt)
    #expect(rig.outcome(head + first + second + second + tail) == .corrupt)
    #expect(rig.outcome(head + other[start...]) == .corrupt)
    #expect(rig.outcome(Array(other[..<104]) + bytes[104...]) == .corrupt)
    #expect(rig.outcome(bytes) == nil)
  }

  @Test func `every header field taken from another genuine file is noticed`() throws {
    let bytes = try rig.seal(Self.plaintext)
    let other = try rig.seal(
      Self.plaintext, rig.fields(identity: [UInt8](repeating: 2, count: 32), generation: 9))
    for range in [32..<64, 64..<72, 80..<104, 32..<104] {
      var spliced = bytes
      spliced.replaceSubrange(range, with: other[range])
      #expect(rig.outcome(spliced) == .corrupt, "\(range)")
    }
  }

  @Test func `hostile beginnings are refused and never trap`() throws {
    let bytes = try rig.seal(Data("some state".utf8))
    var generator = SplitMix64(seed: 20)
    var opened = 0
    for _ in 0..<20_000 {
      var hostile = bytes
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        hostile[Int.random(in: 8..<hostile.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      hostile.removeLast(Int.random(in: 0...hostile.count, using: &generator) / 7)
      guard hostile != bytes else { continue }
      if rig.outcome(hostile) == nil { opened += 1 }
    }
    #expect(opened == 0)
    for count in 0..<200 { #expect(rig.outcome([UInt8](repeating: 0xFF, count: count)) == .corrupt) }
  }
}
