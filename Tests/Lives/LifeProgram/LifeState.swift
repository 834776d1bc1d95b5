public import StateRestoration

/// How early a state can be read after a start: `ProtectionClass` in the order of its strength.
public enum Level: Int, Codable, Comparable, CaseIterable, Sendable {
  /// Always.
  case always
  /// From the first unlock after a start.
  case first
  /// While the device is unlocked.
  case unlocked

  /// Orders by strength.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The class of protection.
  public var protection: ProtectionClass {
    switch self {
    case .always: .none
    case .first: .completeUntilFirstUserAuthentication
    case .unlocked: .complete
    }
  }

  /// The level of a class.
  public init(_ protection: ProtectionClass) {
    switch protection {
    case .none: self = .always
    case .completeUntilFirstUserAuthentication: self = .first
    default: self = .unlocked
    }
  }
}

/// The words that the program writes: each has a number, which is never used again, and can be found in any bytes.
public enum Word {
  /// What all words begin with.
  public static let prefix = "qzword"
  /// The tag of the class of notes that are always secret.
  public static let secretTag = "\(prefix)0x"

  /// The word of a number, repeated up to a length; nothing for number 0.
  public static func text(_ number: Int, length: Int) -> String {
    guard number > 0 else { return "" }
    let word = "\(prefix)\(number)x "
    let text = String(repeating: word, count: length / word.utf8.count + 1)
    return String(text.prefix(max(length, word.utf8.count - 1)))
  }

  /// The number in a text that is one word, repeated; nil for any other text.
  public static func number(in text: String) -> Int? {
    if text.isEmpty { return 0 }
    let digits = text.dropFirst(prefix.count).prefix { $0.isWholeNumber }
    guard let number = Int(digits), text == self.text(number, length: text.utf8.count) else { return nil }
    return number
  }
}

/// What the program's window shows: a model of it that knows nothing of the framework.
public struct LifeState: Codable, Equatable, Sendable {
  /// One note.
  public struct Note: Codable, Equatable, Sendable {
    /// The note that it lies in; nil for the window itself.
    public var parent: String?
    /// The level that it names itself; nil for that of the note it lies in.
    public var own: Level?
    /// The number of the word that it shows.
    public var text = 0
    /// The length of what it shows.
    public var length = 0
    /// The words that it has shown before, last one last.
    public var former: [Int] = []

    /// Whether two show the same.
    func looksLike(_ other: Note) -> Bool {
      parent == other.parent && own == other.own && text == other.text && length == other.length
    }
  }

  /// The window, which holds everything else.
  public static let window = "window"
  /// Notes that are there at every launch, with their levels.
  public static let fixed: [(name: String, own: Level?)] = [("list", nil), ("middle", .first), ("editor", .unlocked)]

  /// All notes, by their names.
  public var notes: [String: Note]
  /// All names in the order of siblings.
  public var order: [String]
  /// Whether that order is the one that was saved: who can't see everything puts what is new where it likes.
  public var isOrdered = true
  /// The level of what names none.
  public let level: Level
  /// What a launch shows that can't read everything, if it is not this.
  ///
  /// It is without what was saved by runs that could read less, and waits for the unlock. One or none.
  private var stored: [LifeState] = []

  /// The state of a program that never ran.
  public init(level: Level) {
    self.level = level
    notes = [Self.window: Note()]
    order = [Self.window]
    for (name, own) in Self.fixed {
      notes[name] = Note(parent: Self.window, own: own)
      order.append(name)
    }
  }

  /// Whether a note is there at every launch.
  public static func isFixed(_ name: String) -> Bool { name == window || fixed.contains { $0.name == name } }

  /// The level of a note's state.
  public func level(of name: String) -> Level {
    guard let note = notes[name] else { return level }
    return note.own ?? note.parent.map(level(of:)) ?? level
  }

  /// Whether a note can be seen where states up to a level can be read; nil for none.
  public func isVisible(_ name: String, at readable: Level?) -> Bool {
    guard let readable, let note = notes[name], level(of: name) <= readable else { return false }
    return note.parent.map { isVisible($0, at: readable) } ?? true
  }

  /// The notes that lie in one, in their order.
  public func children(of name: String) -> [String] { order.filter { notes[$0]?.parent == name } }

  /// Whether a note lies in another one, or is it.
  public func lies(_ name: String, in other: String) -> Bool {
    name == other || (notes[name]?.parent.map { lies($0, in: other) } ?? false)
  }

  /// Removes a note, and all that lies in it.
  public mutating func remove(_ name: String) {
    for child in children(of: name) { remove(child) }
    notes[name] = nil
    order.removeAll { $0 == name }
  }

  /// What a launch shows that can't read everything.
  public var seen: LifeState { stored.first ?? self }

  /// Whether what a launch shows that can read states up to a level is not what a note, or one above it, has since.
  public func isTorn(_ name: String, at readable: Level?) -> Bool {
    guard let seen = stored.first, let note = notes[name] else { return false }
    if seen.isVisible(name, at: readable), seen.notes[name]?.looksLike(note) == false { return true }
    return note.parent.map { isTorn($0, at: readable) } ?? false
  }

  /// Says that this is what a run has made of another state which could read states up to a level: only these were stored.
  public mutating func follow(_ former: LifeState, at readable: Level?) {
    var seen = former.seen
    seen.stored = []
    // What it has not changed stays as it could see that: it does not know what waits beside.
    let hidden = seen.order.filter {
      seen.isVisible($0, at: readable) && former.isVisible($0, at: readable) && !isVisible($0, at: readable)
    }
    for name in hidden { seen.notes[name] = nil }
    seen.order.removeAll { seen.notes[$0] == nil }
    for name in order where isVisible(name, at: readable) {
      if notes[name] != former.notes[name] || !former.isVisible(name, at: readable) { seen.add(name, of: self) }
    }
    seen.isOrdered = false
    (stored, isOrdered) = ([seen], false)
  }

  /// Says that all of it is stored.
  public mutating func settle() { stored = [] }

  /// Goes on from what is shown, where everything can be read by now.
  ///
  /// - Parameter readable: Up to which level states could be read before.
  public mutating func adopt(_ shown: LifeState, from readable: Level?) {
    if !isOrdered { (order, isOrdered) = (shown.order, true) }
    for name in order where isTorn(name, at: readable) {
      guard var note = shown.notes[name] else { continue }
      note.former = (notes[name]?.former ?? []) + [notes[name]?.text, seen.notes[name]?.text].compactMap(\.self)
      notes[name] = note
    }
    settle()
  }

  /// What is there if only what can't be read at a level was saved, which is saved first, of a change to a newer state.
  public func withHidden(of newer: LifeState, above readable: Level?) -> LifeState {
    var result = self
    result.isOrdered = false
    var former = seen
    former.stored = []
    result.stored = [former]
    for name in order where newer.notes[name] == nil && !isVisible(name, at: readable) { result.remove(name) }
    for name in newer.order where !newer.isVisible(name, at: readable) {
      result.add(name, of: newer)
      // What it lies in comes along, without what it shows.
      var above = newer.notes[name]?.parent
      while let parent = above, result.notes[parent] == nil {
        result.add(parent, of: newer)
        result.notes[parent]?.text = 0
        result.notes[parent]?.length = 0
        result.notes[parent]?.own = nil
        above = newer.notes[parent]?.parent
      }
    }
    return result
  }

  private mutating func add(_ name: String, of other: LifeState) {
    if notes[name] == nil { order.append(name) }
    notes[name] = other.notes[name]
  }

  /// What differs from what is shown where states up to a level can be read; nil for nothing.
  ///
  /// - Parameters:
  ///   - shown: What is there, the notes without their former words.
  ///   - readable: Up to which level, nil for nothing.
  ///   - before: Up to which level before an unlock: what was shown then stays, as the objects have it.
  public func difference(from shown: LifeState, at readable: Level?, since before: Level? = nil) -> String? {
    let seen = readable == .unlocked ? self : self.seen
    for name in seen.order where seen.isVisible(name, at: readable) {
      guard let note = seen.notes[name], let found = shown.notes[name] else { return "\(name) is not there" }
      let isOther = isTorn(name, at: before) && self.seen.notes[name]?.looksLike(found) == true
      if !note.looksLike(found), !isOther { return "\(name) is \(found) instead of \(note)" }
    }
    for name in shown.order where !seen.isVisible(name, at: readable) && !Self.isFixed(name) {
      return "\(name) is there, and is none that may be seen"
    }
    guard isOrdered, stored.isEmpty, readable == .unlocked else { return nil }
    return order.allSatisfy { children(of: $0) == shown.children(of: $0) } ? nil : "the order is another one"
  }
}

extension LifeState: CustomStringConvertible {
  /// All notes in one line.
  public var description: String {
    order.compactMap { name in
      notes[name].map { note in
        "\(name)[\(note.own.map { "\($0) " } ?? "")in \(note.parent ?? "-"): \(note.text)+\(note.length)]"
      }
    }.joined(separator: " ")
  }
}
