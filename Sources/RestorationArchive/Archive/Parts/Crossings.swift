/// The boundaries and holes of a tree of several parts, and which of them don't fit.
///
/// All fit unless a part was damaged, or stands as it was earlier. Then one rule finds every boundary its place: it is
/// where its hole is, whatever parent its block names.
struct Crossings: Sendable {
  /// The number of boundaries by their part.
  var boundaryCounts: [UInt32: Int] = [:]
  /// Holes whose nodes are nowhere, though their part is not away.
  var missing: [UInt32] = []
  /// Boundaries without a hole, though the part that should have it is not away.
  var unplaced: [UInt32] = []
  /// Boundaries whose parent is in a part that is away.
  var waiting: [UInt32] = []
  /// The parents of those boundaries' holes that name another parent.
  var relocated: [UInt32: UInt32] = [:]
  /// Second holes of a number, by the part that they are in: they are nowhere in the tree.
  var surplus: [UInt32: Set<UInt32>] = [:]

  /// Compares the boundaries and the holes of all parts that are here.
  init(_ parts: [some CrossingSource], away: Set<RestorationArchive.Part>) throws(ArchiveError) {
    var holes: [UInt32: [(part: UInt32, parent: UInt32)]] = [:]
    var boundaries: [UInt32: UInt32] = [:]
    for source in parts {
      let crossings: [Crossing]
      do throws(ArchiveError) {
        crossings = try source.crossings()
      } catch {
        throw error.located(in: .init(of: NodeNumber.first(of: source.part)))
      }
      let before = boundaries.count
      for crossing in crossings {
        if NodeNumber.part(of: crossing.number) == source.part {
          boundaries[crossing.number] = crossing.parent
        } else {
          holes[crossing.number, default: []].append((source.part, crossing.parent))
        }
      }
      boundaryCounts[source.part] = boundaries.count - before
    }
    for (number, places) in holes {
      let named = boundaries[number]
      let best = places.count == 1 ? 0 : places.firstIndex { $0.parent == named } ?? 0
      for (index, place) in places.enumerated() where index != best { surplus[place.part, default: []].insert(number) }
      if let named {
        if named != places[best].parent { relocated[number] = places[best].parent }
      } else if !away.contains(.init(of: number)) {
        missing.append(number)
      }
    }
    for (number, parent) in boundaries where holes[number] == nil {
      if parent != ArchiveHeader.rootID, away.contains(.init(of: parent)) {
        waiting.append(number)
      } else {
        unplaced.append(number)
      }
    }
    missing.sort()
    waiting.sort()
    unplaced.sort()
  }
}

/// A boundary or a hole of a part, and the parent that it names.
struct Crossing: Sendable {
  var number: UInt32
  var parent: UInt32

  /// The crossings of an archive with changes: the last one of a number counts, and nil is for one that is gone.
  static func merge(_ known: [Crossing], changed: [(number: UInt32, parent: UInt32?)]) -> [Crossing] {
    if changed.isEmpty { return known }
    var parents = Dictionary(known.lazy.map { ($0.number, $0.parent) }, uniquingKeysWith: { $1 })
    for (number, parent) in changed { parents[number] = parent }
    return parents.map { Crossing(number: $0.key, parent: $0.value) }.sorted { $0.number < $1.number }
  }
}

/// A part whose boundaries and holes can be listed.
protocol CrossingSource {
  /// The number of the part.
  var part: UInt32 { get }
  /// Its boundaries and holes, in the order of their numbers.
  func crossings() throws(ArchiveError) -> [Crossing]
}

extension ReaderCore: CrossingSource {}

extension RestorationArchive {
  /// What doesn't fit in a tree of several parts, as one of them is damaged, older than the others, or away.
  package struct Irregularities: Hashable, Sendable {
    /// Holes whose nodes are nowhere, though their part is not away: they show as holes.
    package var missing: [NodeID] = []
    /// Nodes without a place in the tree, though the part with their parent is not away: in no list of children.
    package var unplaced: [NodeID] = []
    /// Nodes whose parent is in a part that is away: in no list of children until that part comes.
    package var waiting: [NodeID] = []
    /// Nodes that are in another place than they say.
    package var relocated: [NodeID] = []

    /// Whether nothing is wrong; nodes that wait are not.
    package var isEmpty: Bool { missing.isEmpty && unplaced.isEmpty && relocated.isEmpty }

    init() {}

    init(_ crossings: Crossings) {
      missing = crossings.missing.map(NodeID.init(rawValue:))
      unplaced = crossings.unplaced.map(NodeID.init(rawValue:))
      waiting = crossings.waiting.map(NodeID.init(rawValue:))
      relocated = crossings.relocated.keys.sorted().map(NodeID.init(rawValue:))
    }
  }
}
