import Synchronization

/// The bindings of all the objects that one coordinator has seen.
@MainActor package final class ObjectBindings {
  private var bindings: [ObjectIdentifier: ObjectBinding] = [:]

  private struct WeakTable { weak let table: ObjectBindings? }

  // Which tables there are, so that an object can say that it changed without knowing its coordinators.
  private static var tables: [WeakTable] = []

  /// Makes a table without bindings.
  package init() {
    Self.tables.removeAll { $0.table == nil }
    Self.tables.append(WeakTable(table: self))
  }

  /// The number of bindings, those of objects that have died included until they are removed.
  package var count: Int { bindings.count }

  /// The binding of an object, made at first use; `onChange` is for a new one.
  package func binding(
    for object: any RestorableObject, onChange: @escaping @Sendable () -> Void = {}
  ) -> ObjectBinding {
    if let binding = existingBinding(for: object) { return binding }
    let binding = ObjectBinding(object, onChange: onChange)
    bindings[ObjectIdentifier(object)] = binding
    return binding
  }

  /// The binding of an object if it has one.
  package func existingBinding(for object: any RestorableObject) -> ObjectBinding? {
    // An address may have been given to another object: the binding itself knows whose it is.
    guard let binding = bindings[ObjectIdentifier(object)], binding.object === object else { return nil }
    return binding
  }

  /// Ends the observation of an object that has left, and mostly died by then.
  ///
  /// - Parameters:
  ///   - binding: Its binding.
  ///   - identity: Where the object is or was; another object may have been bound there since, and stays.
  package func remove(_ binding: ObjectBinding, of identity: ObjectIdentifier) {
    if bindings[identity] === binding { bindings[identity] = nil }
  }

  static func invalidate(_ object: any RestorableObject) {
    for entry in tables { entry.table?.existingBinding(for: object)?.flag.fire() }
  }
}

extension RestorableObject {
  /// Says that the state has changed in a way that can't be observed; the next automatic save has it.
  ///
  /// Not needed for ``Restored`` properties and `@Observable` classes.
  public func invalidateRestorableState() {
    ObjectBindings.invalidate(self)
  }
}
