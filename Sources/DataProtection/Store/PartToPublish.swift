package import FoundationShim

/// Which file a part of a generation is: a later generation that leaves the part as it is names that file again.
package struct PartFile: Hashable, Sendable {
  /// Where the part stands.
  package let place: PartPlace
  /// The file's number.
  let number: UInt64
  /// What its key commits to: another file of the same number, of a slot that was deleted and made again, has another.
  let commitment: [UInt8]
}

/// One part of a generation that is being saved.
package struct PartToPublish: Sendable {
  /// What the part holds.
  package enum Content: Sendable {
    /// A new state, sealed under a class; sealed one-way as long as that has no key.
    case new(Data, as: ProtectionClass)
    /// What an earlier generation has there: its file is named again, which takes no key and writes nothing of it.
    case unchanged(PartFile)
  }

  /// Where the part stands.
  package let place: PartPlace
  /// What it holds.
  package let content: Content

  /// Names a part and its content.
  package init(_ place: PartPlace, _ content: Content) {
    if case .unchanged(let file) = content {
      precondition(file.place == place, "A file of place \(file.place) can't stand at place \(place).")
    }
    self.place = place
    self.content = content
  }
}
