internal import RestorationArchive

/// The registered classes as a value: which tags stand for state that a class may be given.
///
/// A snapshot of the registry, so that the main actor and the worker compare tags by the same rule.
struct TagTable: Sendable {
  /// The accepted tags by tag, today's or a former one.
  private var accepted: [RestorationClass: Set<RestorationClass>]
  /// The shortest age limit of the registered classes; nil when none has one.
  let ageLimit: Duration?

  /// Takes the accepted tags of every registered tag.
  init(_ accepted: [RestorationClass: Set<RestorationClass>] = [:], ageLimit: Duration? = nil) {
    self.accepted = accepted
    self.ageLimit = ageLimit
  }

  /// The tags whose state an instance of a tag's class may be given; of an unregistered class only its own.
  func acceptedTags(by tag: RestorationClass?) -> Set<RestorationClass> {
    guard let tag else { return [] }
    return accepted[tag] ?? [tag]
  }

  /// Whether two variants are of one class, under any of its tags, and of one model.
  func isSameIdentity(_ one: Identity, _ other: Identity) -> Bool {
    guard one.model == other.model, one.isView == other.isView else { return false }
    return one.classTag == other.classTag
      || acceptedTags(by: one.classTag) == acceptedTags(by: other.classTag)
  }

  /// The claimant that recorded state stands for, when it asks for older state of its own.
  func claimant(of attributes: RestorationArchive.Attributes) -> Claimant {
    Claimant(
      identity: attributes.identity, version: attributes.version,
      acceptedTags: acceptedTags(by: attributes.classTag))
  }
}
