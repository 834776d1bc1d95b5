extension RestorationArchive {
  /// The place of an archive among those that hold one tree together, each under a protection class of its own.
  ///
  /// A node whose part is another one than its parent's is a *boundary*. In its parent's part a *hole* with the same
  /// number, a random one, keeps its place. `Docs/ArchiveFormat.md` has the rules.
  package struct Part: RawRepresentable, Hashable, Comparable, Sendable, CaseIterable {
    /// The place, from 0 to 3.
    package let rawValue: UInt8

    /// Makes a part of its place; nil for a place that there isn't.
    package init?(rawValue: UInt8) {
      guard rawValue < Self.count else { return nil }
      self.rawValue = rawValue
    }

    /// Makes the part of a node's number.
    init(of number: UInt32) { rawValue = UInt8(truncatingIfNeeded: NodeNumber.part(of: number)) }

    /// Makes the part in whose lists the children of a node stand, or the roots.
    init(listing parent: NodeID?) { self.init(of: parent?.rawValue ?? 0) }

    /// The part that is always there: the list of its roots is that of the whole tree.
    package static let first = Part(of: 0)
    /// The most parts that there can be.
    package static let count: UInt8 = 4
    /// Every part.
    package static let allCases = (0..<count).compactMap(Part.init(rawValue:))

    /// Orders by place.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
}

extension NodeID {
  /// The part that the node is in, also while that can't be read.
  package var part: RestorationArchive.Part { RestorationArchive.Part(of: rawValue) }
}

/// What a node's number tells: the upper two bits are its part, the next one is set in the numbers of boundaries.
///
/// All other numbers are given out in order. Those of boundaries are random, as a weaker part shows them in its holes.
enum NodeNumber {
  /// The most numbers that are given out in a part.
  static let countLimit: UInt32 = 1 << 29

  private static let partShift: UInt32 = 30
  private static let crossing: UInt32 = 1 << 29

  /// The number of a node's part.
  static func part(of number: UInt32) -> UInt32 { number >> partShift }

  /// The number of the part in whose lists a node's children stand.
  ///
  /// The roots, with ``ArchiveHeader/rootID``, stand in the first.
  static func listPart(of parent: UInt32) -> UInt32 { parent == ArchiveHeader.rootID ? 0 : part(of: parent) }

  /// The first number that a part gives out.
  static func first(of part: UInt32) -> UInt32 { part << partShift }

  /// The lowest number of a part's boundaries.
  static func firstCrossing(of part: UInt32) -> UInt32 { first(of: part) | crossing }

  /// How many numbers of its part are lower.
  static func count(below number: UInt32) -> UInt32 { number & ((1 << partShift) - 1) }

  /// Whether it is the number of a boundary, and of the hole that stands for it.
  static func isCrossing(_ number: UInt32) -> Bool { number & crossing != 0 && number != ArchiveHeader.rootID }

  /// Whether it is the number of a boundary that is in a part.
  static func isBoundary(_ number: UInt32, of part: UInt32) -> Bool {
    isCrossing(number) && self.part(of: number) == part
  }

  /// The lowest number behind a number that is of another kind; nil for one that no node of an archive can have.
  ///
  /// - Parameter nextID: The number that the archive gives out next.
  static func end(behind number: UInt32, nextID: UInt32) -> UInt32? {
    if isCrossing(number) {
      let last = number | (crossing - 1)
      return last == ArchiveHeader.rootID ? last : last + 1
    }
    return part(of: number) == part(of: nextID) && number < nextID ? nextID : nil
  }

  /// A number for a boundary of a part, of random bits.
  static func crossing(of part: UInt32, bits: UInt32) -> UInt32 { firstCrossing(of: part) | bits & (crossing - 1) }

  /// The name of a hole: it tells the number and nothing else.
  static func holeName(_ number: UInt32) -> RestorationIdentifier {
    let digits = String(number, radix: 16)
    return RestorationIdentifier("\u{1}x" + String(repeating: "0", count: 8 - digits.count) + digits)
  }
}

extension RestorationArchive.Attributes {
  /// Those of every hole.
  static let hole = Self(flags: .hole)
}
