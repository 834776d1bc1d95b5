internal import RestorationArchive

/// What a dormant variant is called among its siblings: its place's identifier, and a number that grows with every variant
/// that goes dormant in the archive.
///
/// The flag ``RestorationArchive/NodeFlags/dormant`` says that a name is one of these, whatever identifiers look like.
struct VariantName: Hashable, Sendable {
  /// The identifier of the place.
  var identifier: RestorationIdentifier
  /// The number: the higher, the newer.
  var number: Int

  /// Far more than an archive ever has, and far from the end of an integer: a file can hold any number.
  private static let numbers = 0..<(1 << 53)
  private static let separator: Character = "\u{1}"

  /// Names a variant.
  init(_ identifier: RestorationIdentifier, number: Int) {
    self.identifier = identifier
    self.number = number
  }

  /// Reads the name of a dormant node.
  init(_ stored: RestorationIdentifier) {
    let text = stored.rawValue
    guard let end = text.lastIndex(of: Self.separator), let number = Int(text[text.index(after: end)...]),
      Self.numbers.contains(number)
    else {
      self.init(stored, number: 0)
      return
    }
    self.init(RestorationIdentifier(String(text[..<end])), number: number)
  }

  /// The name as a node has it.
  var stored: RestorationIdentifier {
    RestorationIdentifier("\(identifier.rawValue)\(Self.separator)\(number)")
  }
}

extension RestorationArchive.NodeFlags {
  /// Encoded by another object's reference, not by being a child.
  static let byHand = RestorationArchive.NodeFlags(rawValue: 1 << 8)
  /// Stored behind a newer variant of the same place, or in a place that nobody has now.
  static let dormant = RestorationArchive.NodeFlags(rawValue: 1 << 9)
  /// An object had this when it came while the device was locked, and has not been edited since: stored state goes before it.
  static let unedited = RestorationArchive.NodeFlags(rawValue: 1 << 10)
  /// The object joins what it has with the state that it replaces; see ``MergingController``.
  static let joins = RestorationArchive.NodeFlags(rawValue: 1 << 11)
  /// Replaced by an edit made while locked, and not joined with it yet: dormant below it, in a place without an identifier.
  static let replaced = RestorationArchive.NodeFlags(rawValue: 1 << 12)
}

extension RestorationArchive.Node {
  /// The identifier of the node's place.
  var placeIdentifier: RestorationIdentifier {
    attributes.flags.contains(.dormant) ? VariantName(identifier).identifier : identifier
  }

  /// Whether it has the values of an object that came while the device was locked and was not edited.
  var isUnedited: Bool { attributes.flags.contains(.unedited) }
}
