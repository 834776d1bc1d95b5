import Foundation
import RestorationArchive
import SeededRandom
import Testing

/// The bytes that `Docs/ArchiveFormat.md` promises of values.
struct FormatTests {
  @Test func `lists of integers are as wide as the widest, in both versions`() throws {
    var bytes: [UInt8] = [
      0xAC, 0x56, 0x02, 0x0C, 0x00, 0x00, 0x10, 0x01, 0x01, 0x61, 0x0F, 0x02, 0x02, 0x02, 0x00, 0x58, 0x02,
    ]
    #expect(try ArchiveEncoder().encode(["a": [1, 300]]) == Data(bytes))
    #expect(try ArchiveDecoder().decode([String: [Int]].self, from: Data(bytes)) == ["a": [1, 300]])
    bytes[2] = 1
    #expect(try ArchiveDecoder().decode([String: [Int]].self, from: Data(bytes)) == ["a": [1, 300]])
  }

  struct Pair: Codable, Equatable { var n: Int, s: String?, t: String?, d: Double }

  @Test func `the example of a value on the format's page is what is written and read`() throws {
    let bytes = try FormatPage.example("## Example of a value")
    let value = Pair(n: 250, s: "x", t: nil, d: 0.5)
    #expect(try ArchiveDecoder().decode(Pair.self, from: bytes) == value)
    #expect(try ArchiveEncoder().encode(value) == bytes)
  }

  @Test func `what format 1 wrote differently is read`() throws {
    let bytes: [UInt8] = [
      0xAC, 0x56, 0x01, 0x0B, 4, 1, 0x6E, 1, 0x73, 1, 0x74, 1, 0x64, 1, 4, 0, 3, 1, 16, 2, 16, 3, 4,
      // 500 in two bytes behind 239 + 2; all eight bytes of 0.5.
      0, 0xF1, 0xF4, 0x01, 7, 1, 0x78, 0, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F,
    ]
    #expect(
      try ArchiveDecoder().decode(Pair.self, from: Data(bytes)) == Pair(n: 250, s: "x", t: nil, d: 0.5))
  }

  @Test(arguments: [0, 1, 239, 240, 241, 495, 496, 1_519, 1_520, 65_535, 65_536, 1 << 32] as [UInt64])
  func `numbers around the ends of each length come back, and are as short as they can be`(number: UInt64) throws {
    // Zigzag: the even numbers are those of integers that are not negative.
    let integer = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    let data = try ArchiveEncoder().encode(integer)
    #expect(try ArchiveDecoder().decode(Int64.self, from: data) == integer)
    let length = number < 240 ? 1 : number < 1_520 ? 2 : 1 + (64 - number.leadingZeroBitCount + 7) / 8
    #expect(data.count == 6 + length)
    let text = String(repeating: "x", count: Int(min(number, 70_000)))
    #expect(try ArchiveDecoder().decode([String].self, from: ArchiveEncoder().encode([text])) == [text])
  }

  @Test func `every double comes back, and round ones are short`() throws {
    func size(_ value: Double) throws -> Int {
      let data = try ArchiveEncoder().encode(value)
      #expect(try ArchiveDecoder().decode(Double.self, from: data).bitPattern == value.bitPattern)
      return data.count - 6
    }
    #expect(try size(0) == 1)
    #expect(try size(2) == 1)
    #expect(try size(1) == 3)
    #expect(try size(320.5) == 4)
    #expect(try size(1.0 / 3) == 9)
    var random = SplitMix64(seed: 5)
    for _ in 0..<2_000 { #expect(try size(Double(bitPattern: random.next() << UInt64(random.upTo(63)))) <= 9) }
  }
}

/// The examples of `Docs/ArchiveFormat.md`.
enum FormatPage {
  /// The bytes of the first example below a heading.
  static func example(_ heading: String) throws -> Data {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "Docs/ArchiveFormat.md"), encoding: .utf8)
    let section = try #require(page.range(of: heading + "\n"))
    let start = try #require(page.range(of: "```hex\n", range: section.upperBound..<page.endIndex))
    let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
    return Data(
      page[start.upperBound..<end.lowerBound].split(separator: "\n").flatMap { line in
        line.prefix { $0 != ";" }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
      })
  }
}
