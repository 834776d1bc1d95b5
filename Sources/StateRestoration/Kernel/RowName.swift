package import RestorationArchive

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
  /// The flags that tell of a record, and not of its row.
  static let ofRecords: RestorationArchive.NodeFlags = [.first, .quarantined, .shed, .record]
}

extension RestorationArchive.Node {
  /// The identifier of the row's object.
  package var rowIdentifier: RestorationIdentifier {
    attributes.flags.contains(.numbered) ? RowName.identifier(in: identifier) : identifier
  }
}
