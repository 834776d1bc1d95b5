public import DataProtection

/// What an object is to the framework: its name among its siblings, and for a controller whatever else guards its state.
///
/// ```swift
/// let restoration: RestorationIdentity = "search"
/// let restoration = RestorationIdentity("item 3", class: "item", model: "note 17")
/// ```
///
/// A nil or an empty identifier leaves the object out with everything below it, and is a finding of the save, as it may have been
/// forgotten. Say ``excluded`` for an object that is left out on purpose.
public struct RestorationIdentity: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The tag of a class that remakes objects: a text, never the name of a Swift type.
  public typealias ClassTag = RestorationArchive.ClassTag

  // An identity is copied whenever an object is captured, and most have a name alone.
  private var facts: Facts

  private enum Facts: Hashable {
    /// An identifier, and nothing else to say.
    case name(RestorationIdentifier)
    /// Everything else.
    case more(More)
  }

  /// All that is known of an object that has more to say than its name: copying it is counting one reference.
  private final class More: Hashable, Sendable {
    let identifier: RestorationIdentifier?
    let classTag: ClassTag?
    let model: ModelIdentifier?
    let priority: RestorationArchive.Priority
    let version: StateVersion
    let protection: ProtectionClass?
    let isExcluded: Bool

    init(
      _ identifier: RestorationIdentifier?, _ classTag: ClassTag?, _ model: ModelIdentifier?,
      _ priority: RestorationArchive.Priority, _ version: StateVersion, _ protection: ProtectionClass?, isExcluded: Bool
    ) {
      self.identifier = identifier
      self.classTag = classTag
      self.model = model
      self.priority = priority
      self.version = version
      self.protection = protection
      self.isExcluded = isExcluded
    }

    /// The facts of an object that says nothing.
    static let nothing = More(nil, nil, nil, .normal, 1, nil, isExcluded: false)

    static func == (left: More, right: More) -> Bool {
      left === right
        || left.identifier == right.identifier && left.classTag == right.classTag && left.model == right.model
          && left.priority == right.priority && left.version == right.version && left.protection == right.protection
          && left.isExcluded == right.isExcluded
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(identifier)
      hasher.combine(classTag)
      hasher.combine(model)
      hasher.combine(priority)
      hasher.combine(version)
      hasher.combine(protection)
      hasher.combine(isExcluded)
    }
  }

  /// What the object is called among its siblings.
  ///
  /// A child that had no name, or a sibling's, and gets its own is noticed when its parent changes or is invalidated, and by
  /// each explicit save.
  public var identifier: RestorationIdentifier? {
    get {
      switch facts {
      case .name(let identifier): identifier
      case .more(let more): more.identifier
      }
    }
    set { self = Self(newValue, self.class, model, priority, version, protection, isExcluded: isExcluded) }
  }

  /// The tag of the registered class that remakes a controller: stable, never a type's name; nil for one that exists at launch, or
  /// that the delegate makes.
  public var `class`: ClassTag? {
    get {
      switch facts {
      case .name: nil
      case .more(let more): more.classTag
      }
    }
    set { self = Self(identifier, newValue, model, priority, version, protection, isExcluded: isExcluded) }
  }

  /// Which model object a controller's state belongs to, such as the note that an editor shows; nil for none.
  ///
  /// State of one model object is never given to a controller that names another, so that the draft of one note can't
  /// land in the editor of another. A controller that names none takes any, as it may learn its model from the state; and
  /// state that was preserved without a model, by an older version of the program, say, is anybody's.
  public var model: ModelIdentifier? {
    get {
      switch facts {
      case .name: nil
      case .more(let more): more.model
      }
    }
    set { self = Self(identifier, self.class, newValue, priority, version, protection, isExcluded: isExcluded) }
  }

  /// How soon a controller's state is left out when the archive outgrows its budget.
  public var priority: RestorationArchive.Priority {
    get {
      switch facts {
      case .name: .normal
      case .more(let more): more.priority
      }
    }
    set { self = Self(identifier, self.class, model, newValue, version, protection, isExcluded: isExcluded) }
  }

  /// The version of what coder methods and marked properties preserve: the same for all objects of a class.
  ///
  /// Older state is given to them with ``RestorationDecoder/storedVersion`` in hand; newer state is refused, kept and reported.
  /// A ``VersionedState`` has its version in its own type: then this one stays 1, or the program traps.
  public var version: StateVersion {
    get {
      switch facts {
      case .name: 1
      case .more(let more): more.version
      }
    }
    set { self = Self(identifier, self.class, model, priority, newValue, protection, isExcluded: isExcluded) }
  }

  /// The class of protection of the object's state, and of that of everything below it; nil for its parent's.
  ///
  /// The text of a note, say, is `ProtectionClass.complete` in a window whose ``RestorationConfiguration/protection`` is weaker:
  /// the window comes back on a locked device, and the text after the unlock. Whoever has the keys of the weaker class alone
  /// learns that something is there, and neither its name, class and model nor a value. The state below an object waits for that
  /// object, also where its own class is weaker.
  public var protection: ProtectionClass? {
    get {
      switch facts {
      case .name: nil
      case .more(let more): more.protection
      }
    }
    set { self = Self(identifier, self.class, model, priority, version, newValue, isExcluded: isExcluded) }
  }

  /// Whether the object is left out on purpose.
  package var isExcluded: Bool {
    switch facts {
    case .name: false
    case .more(let more): more.isExcluded
    }
  }

  /// Names an object, and says what else is to be known of it.
  ///
  /// - Parameters:
  ///   - identifier: What it is called among its siblings.
  ///   - class: The tag of the registered class that remakes a controller; nil for one that exists at launch.
  ///   - model: Which model object a controller's state belongs to; nil for none.
  ///   - priority: How soon a controller's state is left out when the archive outgrows its budget.
  ///   - version: The version of what coder methods and marked properties preserve.
  ///   - protection: The class of protection of its state, and of that below it; nil for its parent's.
  public init(
    _ identifier: RestorationIdentifier?, class: ClassTag? = nil, model: ModelIdentifier? = nil,
    priority: RestorationArchive.Priority = .normal, version: StateVersion = 1, protection: ProtectionClass? = nil
  ) {
    self.init(identifier, `class`, model, priority, version, protection, isExcluded: false)
  }

  /// Names an object by a text that is made at run time, such as a title, and says what else is to be known of it.
  ///
  /// - Parameters:
  ///   - identifier: What it is called among its siblings.
  ///   - class: The tag of the registered class that remakes a controller; nil for one that exists at launch.
  ///   - model: Which model object a controller's state belongs to; nil for none.
  ///   - priority: How soon a controller's state is left out when the archive outgrows its budget.
  ///   - version: The version of what coder methods and marked properties preserve.
  ///   - protection: The class of protection of its state, and of that below it; nil for its parent's.
  public init(
    _ identifier: String, class: ClassTag? = nil, model: ModelIdentifier? = nil,
    priority: RestorationArchive.Priority = .normal, version: StateVersion = 1, protection: ProtectionClass? = nil
  ) {
    self.init(
      RestorationIdentifier(identifier), `class`, model, priority, version, protection, isExcluded: false)
  }

  /// Names an object that has nothing else to say.
  public init(stringLiteral identifier: String) { self.init(RestorationIdentifier(rawValue: identifier)) }

  /// An object that is left out on purpose, with everything below it.
  public static let excluded = RestorationIdentity(nil, nil, nil, .normal, 1, nil, isExcluded: true)

  // Equal identities are stored in one way.
  private init(
    _ identifier: RestorationIdentifier?, _ classTag: ClassTag?, _ model: ModelIdentifier?,
    _ priority: RestorationArchive.Priority, _ version: StateVersion, _ protection: ProtectionClass?, isExcluded: Bool
  ) {
    guard classTag == nil, model == nil, priority == .normal, version == 1, protection == nil, !isExcluded else {
      facts = .more(More(identifier, classTag, model, priority, version, protection, isExcluded: isExcluded))
      return
    }
    facts = identifier.map { .name($0) } ?? .more(.nothing)
  }
}

extension RestorationIdentity {
  /// Whether an object is called so, and says nothing else but what plain objects of its class do.
  ///
  /// It is asked of nearly all objects, time after time: it copies no text.
  func saysOnly(_ identifier: RestorationIdentifier, _ plain: PlainIdentity) -> Bool {
    switch facts {
    case .name(let name): plain.classTag == nil && plain.version == 1 && name.isSame(as: identifier)
    case .more(let more):
      more.model == nil && more.priority == .normal && more.protection == nil && more.version == plain.version
        && more.identifier?.isSame(as: identifier) == true
        && (plain.classTag.map { more.classTag?.isSame(as: $0) == true } ?? (more.classTag == nil))
    }
  }
}

/// What most objects of a class say of themselves beside their names.
struct PlainIdentity {
  /// The tag of the class that remakes them.
  var classTag: RestorationIdentity.ClassTag?
  /// The version that they name.
  var version: StateVersion = 1
}

extension RestorationArchive.ExactText {
  /// Whether this is the same text; looks first whether it is the same copy of it, as it mostly is.
  @inline(__always)
  fileprivate func isSame(as other: Self) -> Bool {
    // Strings of the same bits are one text; nothing is concluded from bits that differ.
    let bits = unsafe (
      unsafeBitCast(rawValue, to: (UInt, UInt).self), unsafeBitCast(other.rawValue, to: (UInt, UInt).self)
    )
    return bits.0 == bits.1 || self == other
  }
}
