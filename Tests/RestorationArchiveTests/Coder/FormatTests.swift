import Foundation
import RestorationArchive
import Testing

/// The bytes that `Docs/ValuesAndRecords.md` promises.
struct FormatTests {
  @Test func `the documented example is what is written and read`() throws {
    let bytes: [UInt8] = [
      0xAC, 0x56, 0x01, 0x0C, 0x00, 0x00, 0x10, 0x01, 0x01, 0x61, 0x0F, 0x02, 0x02, 0x02, 0x00, 0x58, 0x02,
    ]
    #expect(try ArchiveEncoder().encode(["a": [1, 300]]) == Data(bytes))
    #expect(try ArchiveDecoder().decode([String: [Int]].self, from: Data(bytes)) == ["a": [1, 300]])
  }

  @Test func `an object is a shape and its payloads`() throws {
    struct Pair: Codable, Equatable { var n: Int, s: String?, t: String? }
    let bytes: [UInt8] = [
      0xAC, 0x56, 0x01, 0x0B, 3, 1, 0x6E, 1, 0x73, 1, 0x74, 1, 3, 0, 3, 1, 16, 2, 16,  // tables
      // Shape 0; 250 is 500 in zigzag form: two bytes behind 239 + 2; "x" behind its tag; nothing.
      0, 0xF1, 0xF4, 0x01, 7, 1, 0x78, 0,
    ]
    let value = Pair(n: 250, s: "x", t: nil)
    #expect(try ArchiveDecoder().decode(Pair.self, from: ArchiveEncoder().encode(value)) == value)
    #expect(try Array(ArchiveEncoder().encode(value)) == bytes)
  }
}
