import FoundationEssentials
import RestorationArchive
import SeededRandom
import Testing

/// Damaged and malicious bytes: errors, never a trap, a loop or another archive's state under a wrong path.
struct HostileBytesTests {
  /// Reads everything there is, in every way there is; errors are fine.
  static func readAll(_ base: Data, _ deltas: [Data]) {
    var limits = Archive.Limits.default
    limits.nodeCount = 10_000
    limits.depth = 64
    guard let reader = try? Archive.Reader(base: Archive.Source(base), deltas: deltas, limits: limits) else { return }
    _ = try? reader.context
    _ = try? reader.roots
    for number in 0..<12 as Range<UInt32> {
      let id = NodeID(rawValue: number)
      _ = try? reader.node(id)
      _ = try? reader.children(of: id)
      _ = try? reader.path(of: id)
      if let record = try? reader.record(of: id) {
        for key in record.keys {
          _ = try? record.decode(SampleState.self, forKey: key)
          _ = try? record.decode(Anything.self, forKey: key)
        }
      }
    }
    for path: RestorationPath in [["container 0", "document 0.1"], ["container 1"], ["added"], ["nothing", "here"]] {
      _ = try? reader.record(at: path)
    }
    guard var writer = try? Archive.Writer(continuing: reader, limits: limits) else { return }
    if let root = try? writer.roots.first {
      try? writer.set(root, 1)
      _ = try? writer.insert("more", parent: root)
      _ = try? writer.makeDelta()
      try? writer.remove(root)
    }
    _ = try? writer.makeArchive()
  }

  static func sample() throws -> (base: Data, deltas: [Data]) {
    var writer = try Archive.Writer.sample(branches: 2, leaves: 3)
    let base = try writer.makeArchive()
    let roots = try writer.roots
    try writer.set(roots[0], 77)
    _ = try writer.insert("added")
    let first = try #require(try writer.makeDelta())
    try writer.move(roots[1], to: roots[0])
    writer.context.versionTag = nil
    let second = try #require(try writer.makeDelta())
    return (base, [first, second])
  }

  /// Which bytes are damaged: each one, or each so-manieth where a sanitizer makes it slow.
  private static let step = ProcessInfo.processInfo.environment["FLIP_STEP"].flatMap(Int.init) ?? 1

  @Test func `a flip of the lowest and the highest bit of every byte of a base is survived`() throws {
    let (base, deltas) = try Self.sample()
    for index in stride(from: 0, to: base.count, by: Self.step) {
      for value in [base[index] ^ 1, base[index] ^ 0x80] {
        var damaged = base
        damaged[index] = value
        Self.readAll(damaged, index.isMultiple(of: 2) ? [] : deltas)
      }
    }
  }

  @Test func `damage to every byte of a delta is survived`() throws {
    let (base, deltas) = try Self.sample()
    for which in deltas.indices {
      for index in stride(from: 0, to: deltas[which].count, by: Self.step) {
        for value in [deltas[which][index] ^ 1, 0xFF] {
          var damaged = deltas
          damaged[which][index] = value
          Self.readAll(base, damaged)
        }
      }
    }
  }

  @Test func `every truncation is refused`() throws {
    let (base, deltas) = try Self.sample()
    for count in 0..<base.count {
      #expect(throws: ArchiveError.self) { try Archive.Reader(base: Archive.Source(base.prefix(count))) }
    }
    for count in 0..<deltas[1].count {
      #expect(throws: ArchiveError.self) {
        try Archive.Reader(base: Archive.Source(base), deltas: [deltas[0], deltas[1].prefix(count)])
      }
    }
    #expect(throws: ArchiveError.self) { try Archive.Reader(base: Archive.Source(base + [0])) }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `random damage in several places is survived`(seed: UInt64) throws {
    let (base, deltas) = try Self.sample()
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var damaged = base
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        // Numbers are what matters: write a small or a huge one over four aligned bytes.
        let place = Int.random(in: 2..<base.count / 4, using: &random) * 4
        let value = [0, 1, UInt32.random(in: 0..<2_000, using: &random), .max, 0x7FFF_FFFF].randomElement(
          using: &random)!
        for byte in 0..<4 where place + byte < damaged.count {
          damaged[place + byte] = UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))
        }
      }
      Self.readAll(damaged, deltas)
    }
  }

  @Test func `a format from the future is told apart from damage`() throws {
    var (base, deltas) = try Self.sample()
    base[8] += 1
    #expect { try Archive.Reader(base: Archive.Source(base)) } throws: { error in
      (error as? ArchiveError)?.code == .unsupportedVersion
    }
    base[8] -= 1
    deltas[1][9] = 1
    #expect { try Archive.Reader(base: Archive.Source(base), deltas: deltas) } throws: { error in
      (error as? ArchiveError)?.code == .unsupportedVersion
    }
  }
}
