public import Observation

/// One value that is preserved under a name, without a class of your own.
///
/// It can be the root of a session, a child of any controller, or one of the values of a ``RestorationScope``, which makes it:
/// ``RestorationScope/value(_:default:)``. Changes are noticed, and it can be observed.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// ```
@Observable @MainActor public final class StoredValue<Value: Codable & Sendable>: RestorableController, StatefulObject {
  /// The name among its siblings.
  @ObservationIgnored public let restoration: RestorationIdentity

  /// The value of one that belongs to no scope; else what it is while the scope has none.
  private var own: Value
  /// Where the scope keeps the value; nil for one that belongs to none.
  @ObservationIgnored private let place: (scope: RestorationScope, key: String, slot: ScopeSlot)?

  /// Names a value, and says what it is until another is restored.
  public init(_ name: RestorationIdentifier, _ value: Value) {
    restoration = RestorationIdentity(name)
    own = value
    place = nil
  }

  init(_ key: String, in scope: RestorationScope, _ slot: ScopeSlot, default fallback: Value) {
    restoration = RestorationIdentity(key)
    own = fallback
    place = (scope, key, slot)
    slot.noteDeclaration(fallback)
  }

  /// The value: the one given at first, until another is restored or assigned.
  ///
  /// A scope's value is the default as well while the device is locked, and when the stored value can't be read as this type;
  /// ``RestorationScope/value(ofType:forKey:)`` tells these apart.
  ///
  /// Reading is cheap: a stored value that can be read is decoded once, and an assigned one is kept as it is. Only what
  /// ``RestorationScope/setValue(_:forKey:)`` has set is decoded at each reading.
  public var value: Value {
    get {
      let own = own
      guard let slot = place?.slot else { return own }
      do throws(RestorationError) {
        return try slot.read(as: Value.self, completingFrom: own) ?? own
      } catch {
        return own
      }
    }
    set {
      guard let (scope, key, slot) = place else {
        own = newValue
        return
      }
      if slot.isUnasked { _ = try? slot.read(as: Value.self, completingFrom: own) }
      scope.set(.copied(newValue, StateHistory.version(of: Value.self)), at: key, in: slot)
    }
  }

  /// The value, as the framework reads and assigns it.
  public var restorableState: Value {
    get { value }
    set { value = newValue }
  }
}
