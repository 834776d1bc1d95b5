internal import RestorationArchive

/// The registered classes as a value: today's tag of every tag, and whose state a class may be given.
///
/// A snapshot of the registry, so that the main actor and the worker compare classes by the same rule.
struct ClassTable: Sendable {
  /// Today's tags by former ones.
  private let today: [RestorationArchive.ClassTag: RestorationArchive.ClassTag]
  /// The accepted classes by today's tag.
  private let accepted: [RestorationArchive.ClassTag: Set<RestorationArchive.ClassTag>]
  /// The shortest age limit of the registered classes; nil when none has one.
  let ageLimit: Duration?

  /// Takes the accepted classes of every registered tag, and today's tags of former ones.
  init(
    _ accepted: [RestorationArchive.ClassTag: Set<RestorationArchive.ClassTag>] = [:],
    today: [RestorationArchive.ClassTag: RestorationArchive.ClassTag] = [:],
    ageLimit: Duration? = nil
  ) {
    self.accepted = accepted
    self.today = today
    self.ageLimit = ageLimit
  }

  /// Today's tag of a class, for one that an earlier program used.
  func current(_ tag: RestorationArchive.ClassTag?) -> RestorationArchive.ClassTag? {
    guard let tag else { return nil }
    return today[tag] ?? tag
  }

  /// A row's identity under today's tags.
  func current(_ identity: Identity) -> Identity {
    guard !today.isEmpty else { return identity }
    var identity = identity
    identity.classTag = current(identity.classTag)
    return identity
  }

  /// The object that a row stands for, when its records look for a row in another table.
  func asker(for attributes: RestorationArchive.Attributes) -> Asker {
    let identity = current(attributes.identity)
    return Asker(
      identity: identity, version: attributes.version,
      acceptedClasses: identity.classTag.map { accepted[$0] ?? [$0] } ?? [])
  }
}
