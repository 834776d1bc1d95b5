import FoundationEssentials
import Synchronization

/// The deltas of an archive: a few of them hold indexes that cover all, the others are fetched when something is there.
final class DeltaChain: Sendable {
  private let deltas = Mutex(RecentValues<Delta>(capacity: 256))
  private let source: RestorationArchive.DeltaSource
  private let base: UInt64
  private let limits: RestorationArchive.Limits
  /// The deltas whose indexes together cover all, newest first; empty when there are no deltas.
  let covering: [Delta]

  /// Reads the deltas whose indexes cover all: about the logarithm of their number.
  init(
    _ source: RestorationArchive.DeltaSource, base header: BaseHeader, limits: RestorationArchive.Limits
  ) throws(ArchiveError) {
    self.source = source
    base = header.fingerprint
    self.limits = limits
    guard source.count < Int(UInt32.max) else {
      throw ArchiveError(.limitExceeded, "there are more deltas than can be numbered")
    }
    var covering: [Delta] = []
    for number in DeltaHeader.chain(to: source.count) {
      covering.append(try Delta(try source.read(number - 1), number: number, base: base, limits: limits))
    }
    self.covering = covering
    // A count is what lists of children are checked against, so that a few bytes cannot stand for a long list.
    let known = covering.reduce(Int(header.nodeCount)) { $0 + $1.nodeEntryCount }
    if let newest = covering.first, Int(newest.header.nodeCount) > known {
      throw ArchiveError(
        .corrupt, "delta \(newest.header.number) tells of \(newest.header.nodeCount) nodes of \(known)", offset: 44)
    }
  }

  /// The number of deltas.
  var count: Int { source.count }

  /// The newest delta; nil when there is none.
  var newest: Delta? { covering.first }

  /// The delta of a number.
  func delta(_ number: UInt32) throws(ArchiveError) -> Delta {
    guard number >= 1, Int(number) <= source.count else {
      throw ArchiveError(.corrupt, "an index names delta \(number) of \(source.count)")
    }
    let number = Int(number)
    for delta in covering where delta.header.number == UInt32(number) { return delta }
    if let delta = deltas.withLock({ $0[number] }) { return delta }
    let delta = try Delta(try source.read(number - 1), number: number, base: base, limits: limits)
    deltas.withLock { $0[number] = delta }
    return delta
  }

  /// Forgets what it can fetch again, so that no more plaintext stays here than the indexes' deltas.
  func removeAll() {
    deltas.withLock { $0.removeAll() }
  }

  /// The newest place of a node; nil when no delta has it.
  func nodeEntry(of id: UInt32) -> Delta.Entry? {
    for delta in covering {
      if let entry = delta.nodeEntry(of: id) { return entry }
    }
    return nil
  }

  /// The newest list of a node's children; nil when no delta has one.
  func children(of id: UInt32) throws(ArchiveError) -> [UInt32]? {
    guard let newest else { return nil }
    for delta in covering {
      guard let entry = delta.childEntry(of: id) else { continue }
      return try self.delta(entry.delta).children(at: entry.offset, newest: newest.header)
    }
    return nil
  }

  /// The deltas that add to the tables, oldest first.
  func tableAdditions() throws(ArchiveError) -> [Delta] {
    guard let newest else { return [] }
    var additions: [Delta] = []
    var number = newest.header.tablesDelta
    while number > 0 {
      let delta = try delta(number)
      guard delta.header.tablesDelta == number else {
        throw ArchiveError(.corrupt, "delta \(number) should add to the tables and does not", offset: 36)
      }
      additions.append(delta)
      number = delta.header.earlierTablesDelta
    }
    return additions.reversed()
  }
}
