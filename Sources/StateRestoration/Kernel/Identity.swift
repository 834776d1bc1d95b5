internal import RestorationArchive

/// Whose state a row holds: the class and the model of its object.
struct Identity: Hashable, Sendable {
  /// The restoration class's tag, or the plain name of the type; nil for the framework's own rows.
  var classTag: RestorationArchive.ClassTag?
  /// What the object says that it shows; nil when it names no model.
  var model: ModelIdentifier?
  /// Whether it is a view's state, which no controller takes.
  var isView = false
}

extension RestorationArchive.Attributes {
  /// Whose state a row holds.
  var identity: Identity {
    Identity(classTag: classTag, model: model, isView: flags.contains(.view))
  }

  /// Takes the class of another row's or record's object.
  mutating func takeClass(of other: RestorationArchive.Attributes) {
    classTag = other.classTag
    flags.remove(.namedByType)
    flags.formUnion(other.flags.intersection(.namedByType))
  }
}

/// An object that asks for state.
struct Asker: Sendable {
  /// What the object is.
  var identity: Identity
  /// The newest version of the state that its class can read.
  var version: StateVersion
  /// The classes whose state it may be given: its own, former ones, and those of superclasses.
  var acceptedClasses: Set<RestorationArchive.ClassTag>

  /// Why a row does not fit.
  enum Mismatch: Hashable, Sendable {
    case otherClass, otherModel
  }

  /// The one predicate: whether a row fits the object; nil means that it does.
  ///
  /// Its class is one of the object's, and its model is the same, or missing on one side.
  func mismatch(with row: Identity) -> Mismatch? {
    guard row.isView == identity.isView else { return .otherClass }
    // The framework's own rows have no class.
    if let tag = row.classTag, tag != identity.classTag, !acceptedClasses.contains(tag) { return .otherClass }
    if let model = row.model, let own = identity.model, model != own { return .otherModel }
    return nil
  }
}
