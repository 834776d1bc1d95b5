/// What everything that can be preserved has in common: controllers, views and shared objects.
///
/// Adopt ``RestorableController`` or ``RestorableView`` for the parts of a screen; adopt this protocol alone for a
/// model or manager that is registered with ``RestorationRegistry/share(_:as:)``. The preserved state of
/// an object is said in one or more of three ways, which may be mixed in one class hierarchy: ``Restored``
/// properties, one Codable value (``StatefulObject``), or coder methods (``CodingObject``).
///
/// - Important: If a base class uses the default of a requirement, Swift uses that default for all its subclasses too, and
///   never calls what a subclass declares. In a class meant for subclassing declare what subclasses may want to change,
///   so that they can override it: `class var stateVersion`, an `open` method.
@MainActor public protocol RestorableObject: AnyObject {
  /// The version of this class's state; raise it when the state's meaning changes. Defaults to 1.
  ///
  /// Write `class var` in classes that are subclassed. Older state is migrated or, in a coder method, read with
  /// ``RestorationDecoder/storedVersion`` in hand; newer state is refused, kept and reported.
  static var stateVersion: StateVersion { get }

  /// The least extent of a launch that brings this class's objects back. Nil by default: that of the object above.
  ///
  /// At the top nil is `launch`, as `pristine` is everywhere: such objects come back every time. Objects that
  /// are not asked for keep their stored state, see ``RestorationCoordinator/extent``. Write `class var` in classes that are
  /// subclassed.
  static var restorationExtent: RestorationExtent? { get }

  /// Says that the object has no identifier on purpose: it has state, and is left out with everything below it.
  ///
  /// False by default: then an object with state and without an identifier is a finding of the save, as the identifier may have
  /// been forgotten. It has no meaning for an object with an identifier.
  var isExcludedOnPurpose: Bool { get }

  /// Called once after restoring, when every object has decoded its state. Does nothing by default.
  ///
  /// The order among objects is not specified.
  func applicationFinishedRestoringState()
}

extension RestorableObject {
  /// The first version.
  public static var stateVersion: StateVersion {
    DefaultVersion.wasUsed(by: Self.self)
    return 1
  }

  /// A missing identifier may have been forgotten.
  public var isExcludedOnPurpose: Bool { false }

  /// With the object above.
  public static var restorationExtent: RestorationExtent? { nil }

  /// Does nothing.
  public func applicationFinishedRestoringState() {}
}

/// Knows which classes leave their version to the default, for the lint: their subclasses can't have one of their own.
@MainActor package enum DefaultVersion {
  // A list: there are few, each is looked for once, and the first set of a type costs a launch more.
  private static var classes: [ObjectIdentifier] = []

  static func wasUsed(by type: any RestorableObject.Type) {
    if !isKnown(type) { classes.append(ObjectIdentifier(type)) }
  }

  private static func isKnown(_ type: any RestorableObject.Type) -> Bool { classes.contains(ObjectIdentifier(type)) }

  /// Whether the default answers for a class.
  package static func isUsed(by type: any RestorableObject.Type) -> Bool {
    _ = type.stateVersion
    return isKnown(type)
  }
}

extension RestorableObject {
  /// Says that the state has changed in a way that can't be observed; the next automatic save has it.
  ///
  /// Not needed for ``Restored`` properties and `@Observable` classes.
  public func invalidateRestorableState() { LiveTree.invalidate(self) }
}
