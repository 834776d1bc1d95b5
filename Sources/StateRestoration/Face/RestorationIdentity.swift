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
  /// What the object is called among its siblings.
  ///
  /// A child that had no name, or a sibling's, and gets its own is noticed when its parent changes or is invalidated, and by
  /// each explicit save.
  public var identifier: RestorationIdentifier?

  /// The tag of the registered class that remakes a controller: stable, never a type's name; nil for one that exists at launch, or
  /// that the delegate makes.
  public var `class`: RestorationClass?

  /// Which model object a controller's state belongs to, such as the note that an editor shows; nil for none.
  ///
  /// State of one model object is never given to a controller that names another, so that the draft of one note can't
  /// land in the editor of another. A controller that names none takes any, as it may learn its model from the state; and
  /// state that was preserved without a model, by an older version of the program, say, is anybody's.
  public var model: ModelIdentifier?

  /// How soon a controller's state is left out when the archive outgrows its budget.
  public var priority: PreservationPriority

  /// The version of what coder methods and marked properties preserve: the same for all objects of a class.
  ///
  /// Older state is given to them with ``RestorationDecoder/storedVersion`` in hand; newer state is refused, kept and reported.
  /// A ``VersionedState`` has its version in its own type: then this one stays 1, or the program traps.
  public var version: StateVersion

  /// Whether the object is left out on purpose.
  package let isExcluded: Bool

  /// Names an object, and says what else is to be known of it.
  ///
  /// - Parameters:
  ///   - identifier: What it is called among its siblings.
  ///   - class: The tag of the registered class that remakes a controller; nil for one that exists at launch.
  ///   - model: Which model object a controller's state belongs to; nil for none.
  ///   - priority: How soon a controller's state is left out when the archive outgrows its budget.
  ///   - version: The version of what coder methods and marked properties preserve.
  public init(
    _ identifier: RestorationIdentifier?, class: RestorationClass? = nil, model: ModelIdentifier? = nil,
    priority: PreservationPriority = .normal, version: StateVersion = 1
  ) {
    self.identifier = identifier
    self.class = `class`
    self.model = model
    self.priority = priority
    self.version = version
    isExcluded = false
  }

  /// Names an object that has nothing else to say.
  public init(stringLiteral identifier: String) { self.init(RestorationIdentifier(rawValue: identifier)) }

  /// An object that is left out on purpose, with everything below it.
  public static let excluded = RestorationIdentity()

  private init() {
    (identifier, `class`, model, priority, version, isExcluded) = (nil, nil, nil, .normal, 1, true)
  }
}
