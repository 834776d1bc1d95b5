package import RestorationArchive

/// What a row or a further record is called in an archive, where siblings have names of their own.
///
/// A row has the identifier of its object. Where another row of the same parent has that name, a number stands behind it, and
/// the flag ``RestorationArchive/NodeFlags/numbered`` says so. A row's second and later records are nodes below it, which have
/// a number alone. A *hidden* row has random bits: see `Table+Hiding.swift`.
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

  /// The name of a row whose own may not be told, as its class of protection has no key: it is of random bits.
  static func hidden(_ high: UInt32, _ low: UInt32) -> RestorationIdentifier {
    RestorationIdentifier("\(separator)w\(String(UInt64(high) << 32 | UInt64(low), radix: 16))")
  }

  /// What reports call a row whose name is hidden; nil for another one.
  static func shown(_ name: RestorationIdentifier) -> RestorationIdentifier? {
    isHidden(name) ? RestorationIdentifier("(hidden \(name.rawValue.dropFirst(2)))") : nil
  }

  /// Whether a name is that of a hidden row.
  static func isHidden(_ name: RestorationIdentifier) -> Bool { name.rawValue.hasPrefix("\(separator)w") }

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
  /// The identifier of the row's object; a name for the time being, while the row can't be read.
  package var rowIdentifier: RestorationIdentifier {
    if attributes.flags.contains(.hole) { return ReservedNode.hole(id) }
    if attributes.flags.contains(.numbered) { return RowName.identifier(in: identifier) }
    return RowName.shown(identifier) ?? identifier
  }
}
