// Imports nothing: what the oracle knows of the program under test.

/// A class and the model object that it shows: what the program can put into a place.
package enum Kind: Int, CaseIterable, Hashable, Sendable {
  /// No class tag, no model object.
  case plain
  /// The class whose tag changes from version to version, with the first model object.
  case firstNote
  /// The same class with the second model object.
  case secondNote
  /// A subclass of it with a tag of its own, with the first model object.
  case special
  /// An unrelated class, which the third version of the program has no more.
  case card
  /// The class of notes without a model object.
  case unnamedNote

  /// The model object; 0 for none.
  var model: Int {
    switch self {
    case .firstNote, .special: 1
    case .secondNote: 2
    case .plain, .card, .unnamedNote: 0
    }
  }

  /// Another one of the same class that shows a model object.
  var otherModel: Kind? {
    switch self {
    case .firstNote: .secondNote
    case .secondNote, .unnamedNote: .firstNote
    default: nil
    }
  }
}

/// A version of the program, which decides the tags of its classes and the version of their states.
package struct ProgramVersion: Hashable, Sendable {
  /// 1, 2 or 3.
  package let number: Int

  /// Describes one of the three versions.
  package init(_ number: Int) { self.number = min(max(number, 1), 3) }

  /// The classes, by name; a subclass after its superclass.
  enum Class: Hashable { case note, special, card }

  /// Today's tag of the notes' class, and the former ones.
  package var noteTags: [String] { Array(["memo", "note", "editor"].suffix(number)) }

  /// Whether the version has the class of cards.
  package var hasCards: Bool { number < 3 }

  /// What the program puts into a place instead of something that it has no class for.
  func known(_ kind: Kind) -> Kind { kind == .card && !hasCards ? .plain : kind }

  /// The tag that an object of a kind is saved with.
  func tag(of kind: Kind) -> String? {
    switch kind {
    case .plain: nil
    case .firstNote, .secondNote, .unnamedNote: noteTags[0]
    case .special: "special"
    case .card: "card"
    }
  }

  func registered(_ tag: String) -> Class? {
    if noteTags.contains(tag) { return .note }
    return tag == "special" ? .special : tag == "card" && hasCards ? .card : nil
  }

  /// Whether an object may be given a state: the class recorded with it is the object's or a superclass, and neither names
  /// another model object than the other.
  func accepts(_ kind: Kind, _ variant: Variant) -> Bool {
    guard variant.model == 0 || kind.model == 0 || variant.model == kind.model else { return false }
    guard let recorded = variant.tag else { return true }
    switch registered(recorded) {
    case .note: return [.firstNote, .secondNote, .unnamedNote, .special].contains(kind)
    case .special: return kind == .special
    case .card: return kind == .card
    case nil: return tag(of: kind) == recorded
    }
  }

  /// Whether two states are one identity's: the same class under any of its tags, and the same model object.
  func isSameIdentity(_ one: Variant, _ other: Variant) -> Bool {
    guard one.model == other.model else { return false }
    guard let tag = one.tag, let otherTag = other.tag else { return one.tag == other.tag }
    return tag == otherTag || (registered(tag) != nil && registered(tag) == registered(otherTag))
  }
}
