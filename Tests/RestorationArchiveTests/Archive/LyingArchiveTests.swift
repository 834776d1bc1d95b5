import CAllocationCounter
import Foundation
import HandmadeArchive
import RestorationArchive
import Testing

/// Archives whose parts contradict each other: refused, or read as far as they make sense, at a price that their size bounds.
struct LyingArchiveTests {
  private func reader(_ archive: HandmadeArchive) throws -> Archive.Reader {
    try Archive.Reader(base: Archive.Source(archive.bytes()))
  }

  @Test func `a handmade archive without lies is read`() throws {
    let archive = HandmadeArchive(
      blocks: [.init(id: 0, name: "a", children: [(2, 0)]), .init(id: 1, parent: 0, name: "b")], roots: [(0, 0)])
    let reader = try reader(archive)
    let root = try #require(try reader.roots.first)
    #expect(try reader.path(of: reader.children(of: root)[0]) == ["a", "b"])
    var writer = try Archive.Writer(continuing: reader)
    #expect(try Archive.Reader(base: Archive.Source(writer.makeArchive())).nodeCount == 2)
  }

  /// Runs whose numbers are more than a number holds, found by reading and by the fuzzer.
  private static let impossible: [[UInt64]] = [
    [.max - 1, 1], [.max - 1, .max], [.max, 0], [0, UInt64(UInt32.max)], [1, 0], [2, 1 << 40],
  ]

  @Test(arguments: impossible)
  func `children whose numbers cannot be are refused`(run: [UInt64]) throws {
    let archive = HandmadeArchive(
      blocks: [.init(id: 0, name: "a")], roots: [(run[0], run[1])])
    let reader = try reader(archive)
    #expect(throws: ArchiveError.self) { try reader.roots }
  }

  @Test(.timeLimit(.minutes(1)))
  func `parents that form a circle end every walk`() throws {
    // 0 says that it lies below 1, and 1 below 0.
    let archive = HandmadeArchive(
      blocks: [
        .init(id: 0, parent: 1, name: "a", children: [(2, 0)]), .init(id: 1, parent: 0, name: "b", children: [(0, 0)]),
        .init(id: 2, name: "c"),
      ], roots: [(4, 0)])
    let reader = try reader(archive)
    let (first, other) = (NodeID(rawValue: 0), NodeID(rawValue: 2))
    #expect(throws: ArchiveError.self) { try reader.path(of: first) }
    var writer = try Archive.Writer(continuing: reader)
    #expect(throws: ArchiveError.self) { try writer.move(other, to: first) }
    #expect(throws: ArchiveError.self) { try writer.move(first, to: other) }
    #expect(throws: ArchiveError.self) { try writer.insert("d", parent: first) }
    #expect(throws: ArchiveError.self) { try writer.remove(first) }
    #expect(throws: ArchiveError.self) { try writer.makeArchive() }
    // What the roots lead to can be read.
    #expect(try reader.path(of: other) == ["c"])
  }

  @Test func `flags that no version defines are refused`() throws {
    let node = NodeID(rawValue: 0)
    for bit in 0..<24 as Range<UInt64> {
      let archive = HandmadeArchive(blocks: [.init(id: 0, name: "a", flags: 1 << bit)], roots: [(0, 0)])
      let reader = try reader(archive)
      // A hole has a name of its own kind.
      if bit < 13 || bit == 14 {
        #expect(try reader.node(node)?.attributes.flags.rawValue == 1 << UInt16(bit))
      } else {
        #expect { try reader.node(node) } throws: { ($0 as? ArchiveError)?.code == .corrupt }
      }
    }
  }

  @Test func `lists that share children cost no more than the archive is big`() throws {
    let bytes = HandmadeArchive.overlapping(800).bytes()
    let changes: [(inout Archive.Writer) throws -> Void] = [
      { _ = try $0.makeArchive() },
      { try $0.remove(NodeID(rawValue: 0)) },
      { try $0.move(NodeID(rawValue: 0), to: NodeID(rawValue: 799)) },
    ]
    for change in changes {
      let reader = try Archive.Reader(base: Archive.Source(bytes))
      var writer = try Archive.Writer(continuing: reader)
      allocation_counter_follow()
      #expect(throws: ArchiveError.self) { try change(&writer) }
      // 800 lists of 800 numbers would take 1.3 MB and more.
      #expect(allocation_counter_followed_peak() < 8 * bytes.count)
    }
  }

  @Test func `states of another size than was told are counted anew`() throws {
    let archive = HandmadeArchive(
      blocks: [.init(id: 0, name: "a", state: [12, 16, 0])], roots: [(0, 0)], liveBytes: 0)
    let reader = try reader(archive)
    #expect(reader.liveBytes == 0)
    var writer = try Archive.Writer(continuing: reader)
    let again = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    #expect(again.liveBytes == 3 && writer.liveBytes == 3)
  }

  @Test func `a delta that tells of more nodes than there can be is refused`() throws {
    var (base, deltas) = try HostileBytesTests.sample()
    func put(_ value: UInt32, at place: Int) {
      for byte in 0..<4 { deltas[1][place + byte] = UInt8(truncatingIfNeeded: value >> UInt32(8 * byte)) }
    }
    put(4_000_000, at: 32)
    put(4_000_000, at: 36)
    #expect { try Archive.Reader(base: Archive.Source(base), deltas: deltas) } throws: { error in
      (error as? ArchiveError)?.code == .corrupt
    }
    base.removeAll()
  }

  @Test func `bytes behind a list of children or behind the class tags are refused`() throws {
    var archive = HandmadeArchive(blocks: [.init(id: 0, name: "a")], roots: [(0, 0)])
    archive.behindRoots = [0]
    #expect { try self.reader(archive).roots } throws: { ($0 as? ArchiveError)?.code == .corrupt }
    archive.behindRoots = []
    archive.tags = [1, 1, 97]
    _ = try Archive.Writer(continuing: reader(archive))
    archive.tags += [0]
    #expect { try Archive.Writer(continuing: self.reader(archive)) } throws: { ($0 as? ArchiveError)?.code == .corrupt }
  }

  @Test func `children in a node's block of a delta are refused`() throws {
    var writer = try Archive.Writer.sample(branches: 1, leaves: 1)
    let base = try writer.makeArchive()
    let root = try #require(try writer.roots.first)
    let entry = Archive.Entry(key: "k", value: "a text of more bytes than the first byte of the state says")
    try writer.setRecord(of: root, entries: [entry], attributes: .init())
    var delta = try #require(try writer.makeDelta())
    _ = try Archive.Reader(base: Archive.Source(base), deltas: [delta])
    // Behind the header: the kind, the length, the number and the parent; then the marks, of which the third is children.
    delta[76] |= 4
    let changed = delta
    #expect { try Archive.Reader(base: Archive.Source(base), deltas: [changed]) } throws: { error in
      (error as? ArchiveError)?.message == "a delta has children in a node's block"
    }
  }

  @Test func `an index by link that leads to another node finds nothing`() throws {
    var writer = try Archive.Writer.sample(branches: 2, leaves: 0)
    var base = try writer.makeArchive()
    let blocksEnd = Int(base[48]) | Int(base[49]) << 8
    for byte in 0..<4 { base.swapAt(blocksEnd + 16 + byte, blocksEnd + 24 + byte) }
    let reader = try Archive.Reader(base: Archive.Source(base))
    for name in ["container 0", "container 1"] as [RestorationIdentifier] {
      #expect(try reader.child(of: nil, identifier: name) == nil)
    }
  }

  @Test func `a part in another's place is named in the error`() throws {
    let (base, deltas) = try HostileBytesTests.sample()
    var writer = try Archive.Writer.sample(branches: 1, leaves: 1)
    let other = try writer.makeArchive()
    func message(_ base: Data, _ deltas: [Data]) -> String? {
      do throws(ArchiveError) {
        _ = try Archive.Reader(base: Archive.Source(base), deltas: deltas)
        return nil
      } catch { return error.code == .wrongBase ? error.message : nil }
    }
    #expect(message(deltas[0], []) == "delta 1 of a base stands in the place of the archive")
    #expect(message(base, [deltas[1]]) == "delta 2 of this base stands in the place of delta 1")
    #expect(message(other, deltas) == "delta 1 of another base stands in the place of delta 1")
    #expect(message(base, [base]) == "a base stands in the place of delta 1")
  }

  private static let unwritten: [[UInt8]] = [
    // A shape of two fields of one key, and one of forty.
    [1, 1, 97, 1, 2, 0, 3, 0, 7],
    [1, 1, 97, 1, 40] + (0..<40).flatMap { _ -> [UInt8] in [0, 3] },
    // A key of 1 025 bytes: 240 + 3 × 256 + 17.
    [1, 254, 17] + [UInt8](repeating: 97, count: 1_025) + [0],
  ]

  @Test(arguments: unwritten)
  func `tables that no writer makes are refused`(tables: [UInt8]) throws {
    var archive = HandmadeArchive(
      blocks: [.init(id: 0, name: "a", state: [12, 16, 0])], roots: [(0, 0)], liveBytes: 3)
    archive.tables = tables
    let reader = try reader(archive)
    #expect(throws: ArchiveError.self) { try reader.record(of: NodeID(rawValue: 0)) }
    #expect(throws: DecodingError.self) {
      try ArchiveDecoder().decode(Int.self, from: Data([0xAC, 0x56, 2, 3] as [UInt8]) + tables + [2])
    }
  }
}
