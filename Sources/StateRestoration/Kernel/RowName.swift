internal import RestorationArchive

/// What a row or a further record is called in an archive, where siblings have names of their own.
///
/// A row has the identifier of its object. Where another row of the same parent has that name, a number stands behind it, and
/// the flag ``RestorationArchive/NodeFlags/numbered`` says so. A row's second and later records are nodes below it, which have
/// a number alone.
enum RowName {
  private static let separator: Character = "\u{1}"

  /// The name of a row whose identifier another row has.
  static func numbered(_ identifier: RestorationIdentifier, _ number: NodeID) -> RestorationIdentifier {
    RestorationIdentifier("\(identifier.rawValue)\(separator)\(number.rawValue)")
  }

  /// The name of a further record.
  static func record(_ number: NodeID) -> RestorationIdentifier {
    RestorationIdentifier("\(separator)\(number.rawValue)")
  }

  /// The identifier in a name that has a number.
  static func identifier(in numbered: RestorationIdentifier) -> RestorationIdentifier {
    let text = numbered.rawValue
    guard let end = text.lastIndex(of: separator) else { return numbered }
    return RestorationIdentifier(String(text[..<end]))
  }
}

extension RestorationArchive.NodeFlags {
  /// Encoded by another object's reference, not by being a child.
  static let byHand = RestorationArchive.NodeFlags(rawValue: 1 << 8)
  /// A row whose object left, or shows another model now: it waits for an object that it fits, and nobody is made for it.
  static let absent = RestorationArchive.NodeFlags(rawValue: 1 << 9)
  /// A record of an object that came by itself where unread records are, and that was not edited since.
  static let first = RestorationArchive.NodeFlags(rawValue: 1 << 10)
  /// A further record of the row above.
  static let record = RestorationArchive.NodeFlags(rawValue: 1 << 11)
  /// A row at which restoring died: nothing is made there or below it until something newer is written there.
  static let closed = RestorationArchive.NodeFlags(rawValue: 1 << 12)
  /// The class is the name of a Swift type, as the object names no tag.
  static let namedByType = RestorationArchive.NodeFlags(rawValue: 1 << 13)
  /// The name has a number behind the identifier.
  static let numbered = RestorationArchive.NodeFlags(rawValue: 1 << 14)

  /// The flags that tell of a record, and not of its row.
  static let ofRecords: RestorationArchive.NodeFlags = [.first, .quarantined, .shed, .record]
}

extension RestorationArchive.Node {
  /// The identifier of the row's object.
  var rowIdentifier: RestorationIdentifier {
    attributes.flags.contains(.numbered) ? RowName.identifier(in: identifier) : identifier
  }
}
