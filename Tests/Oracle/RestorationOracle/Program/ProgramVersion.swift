// Imports nothing: what the oracle knows of the program under test.

/// A version of the program, which decides the tags of its classes and the version of their states.
package struct ProgramVersion: Hashable, Sendable {
  /// 1, 2 or 3.
  package let number: Int

  package init(_ number: Int) { self.number = min(max(number, 1), 3) }

  /// Today's tag of the notes' class, and the former ones.
  var noteTags: [String] { Array(["editor", "note", "memo"].suffix(number)) }

  /// What the program puts into a place instead of something that it has no class for.
  func known(_ kind: PageClass) -> PageClass { kind == .card && number == 3 ? .plain : kind }

  /// The tag of a class, or the plain name of its type.
  func tag(of kind: PageClass) -> String {
    switch known(kind) {
    case .plain: "Plain"
    case .note: noteTags[0]
    case .special: "special"
    case .card: "card"
    case .diary: "diary"
    case .sketch: number == 1 ? "Sketch" : "drawing"
    }
  }

  /// Whether the class names a tag.
  func hasTag(_ kind: PageClass) -> Bool { kind != .plain && (kind != .sketch || number > 1) }

  /// The class of a tag or a type's name, under any of its tags.
  func kind(of tag: String) -> PageClass? {
    if noteTags.contains(tag) { return .note }
    if tag == "Sketch" { return .sketch }
    return PageClass.allCases.first { self.tag(of: $0) == tag && known($0) == $0 }
  }

  /// Whether a class makes its own instances.
  func makesItself(_ kind: PageClass) -> Bool { kind == .note || kind == .special }

  /// After how many seconds the state of ``PageClass/special`` is too old.
  static let freshFor = 600

  /// What the tables know of the version.
  var knowledge: Knowledge {
    var knowledge = Knowledge()
    knowledge.version = number
    knowledge.classes = PageClass.allCases.filter { known($0) == $0 }.map { kind in
      var facts = ClassFacts(tag: tag(of: kind))
      switch kind {
      case .note: facts.formerly = Array(noteTags.dropFirst())
      case .special: facts.superclass = noteTags[0]
      case .sketch: facts.formerly = number == 1 ? [] : ["Sketch"]
      default: break
      }
      facts.joins = kind == .diary
      facts.checksModels = kind == .note || kind == .special
      facts.freshFor = kind == .special ? Self.freshFor : nil
      return facts
    }
    return knowledge
  }
}
