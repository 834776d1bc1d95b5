/// The controllers and views with identifiers that an object holds in its properties, where its class lists none of that kind.
@MainActor struct HeldObjects {
  private(set) var held: [(property: String, object: any RestorableObject)] = []
  private let listsControllers: Bool
  private let listsViews: Bool

  /// Looks through the stored properties of an object.
  init(of object: any RestorableObject) {
    listsControllers = object is any RestorationParent
    listsViews = object is any RestorationViewOwner
    guard !listsControllers || !listsViews, object is any RestorableController else { return }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      for child in level.children {
        guard let label = child.label, !label.hasPrefix("_$") else { continue }
        collect(child.value, label.hasPrefix("_") ? String(label.dropFirst()) : label)
      }
      mirror = level.superclassMirror
    }
  }

  private mutating func collect(_ value: Any, _ property: String) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    // A few will do: where one of a list is preserved nowhere, so are its neighbours.
    case .optional, .collection: for child in mirror.children.prefix(16) { collect(child.value, property) }
    case .class:
      guard let object = value as? any RestorableObject else { return }
      let plan = ClassPlan.plan(for: type(of: object))
      guard plan.shape.identity(of: object).identifier?.isEmpty == false, !(plan.isView ? listsViews : listsControllers)
      else { return }
      held.append((property, object))
    default: break
    }
  }
}
