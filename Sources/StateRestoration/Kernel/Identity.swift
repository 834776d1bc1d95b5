internal import RestorationArchive

/// Whose state a variant is: the class that wrote it, and the model object that it belongs to.
struct Identity: Hashable, Sendable {
  /// The class tag; nil when the writer named none.
  var classTag: RestorationClass?
  /// The model object; nil when the writer named none.
  var model: ModelIdentifier?
  /// Whether it is a view's state, which no controller takes.
  var isView = false
}

/// A live object, or newer state, that asks for stored state.
struct Claimant: Sendable {
  /// What the asker is.
  var identity: Identity
  /// The newest version of the state that the asker's class can read.
  var version: StateVersion
  /// The tags whose state the asker's class may be given: its own, its former ones, and those of registered superclasses.
  var acceptedTags: Set<RestorationClass>
  /// Whether the asker is given nothing: if it names no model, it can't learn one, so that no model's state is its own.
  var isGivenNothing = false

  /// The one predicate: whether recorded state is the asker's; nil means that it is.
  ///
  /// State without a tag, or without a model, fits everybody, and an asker without a model takes the state of any, since it
  /// may learn its model from the state, unless it is given nothing.
  func mismatch(with recorded: Identity) -> Selection.Refusal? {
    guard recorded.isView == identity.isView else { return .otherClass }
    if let tag = recorded.classTag, tag != identity.classTag, !acceptedTags.contains(tag) { return .otherClass }
    if let model = recorded.model, model != identity.model, isGivenNothing || identity.model != nil {
      return .otherModel
    }
    return nil
  }
}

extension RestorationArchive.Attributes {
  /// Whose state a node holds.
  var identity: Identity {
    Identity(classTag: classTag, model: model, isView: flags.contains(.view))
  }
}
