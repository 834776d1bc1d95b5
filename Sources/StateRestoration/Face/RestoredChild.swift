/// One preserved child, as given to the container that owned it.
@MainActor public struct RestoredChild {
  /// What a child is to its container, when its place in the order doesn't tell.
  public typealias Role = RestorationArchive.Role

  /// The child's path from the root.
  public let path: RestorationPath

  /// What the child was to its container; nil if the container recorded nothing.
  public let role: Role?

  /// The child; nil if there is none, as it could not be restored.
  ///
  /// The report says why. One that the program has made itself, and whose state was left out after a crash, is named as well: it
  /// was given nothing, and stands in its place.
  public let controller: (any RestorableController)?

  /// True if no object had the child in the run that saved last, so that its state is an earlier run's.
  ///
  /// A container with room for one child takes one of which this is false; see `newest` of the children. False for a child
  /// that was left out after a crash and is asked for now, and for those beside it.
  package let wasCarriedOver: Bool

  /// Whether the child was left out after a crash and is asked for now: where there is room for one, it is the one.
  package let isAskedFor: Bool

  /// Whether nothing is known of the child before the unlock, because the key of its class of protection is away.
  package let isLocked: Bool

  /// What the child is called among its siblings.
  public var identifier: RestorationIdentifier { path.last ?? "" }

  /// Describes one child.
  package init(
    path: RestorationPath, role: Role? = nil, controller: (any RestorableController)?,
    wasCarriedOver: Bool = false, isAskedFor: Bool = false, isLocked: Bool = false
  ) {
    self.path = path
    self.role = role
    self.controller = controller
    self.wasCarriedOver = wasCarriedOver
    self.isAskedFor = isAskedFor
    self.isLocked = isLocked
  }
}

extension Sequence<RestoredChild> {
  /// The controller for a place with room for one: the last that was restored, a carried-over one if there is no other.
  ///
  /// Of carried-over ones the first, as they stand behind the children of that time.
  @MainActor public var newest: (any RestorableController)? {
    let restored = filter { $0.controller != nil }
    return (restored.last(where: \.isAskedFor) ?? restored.last { !$0.wasCarriedOver } ?? restored.first)?.controller
  }

  /// The children of a plain list after restoring: the restored ones in their order, then those of today that are new.
  ///
  /// A child that exists keeps its preserved place also when its state was left out. One that was made anew takes the place of
  /// the one that exists. On a locked device, those that exist and name a class of protection of their own stand where locked
  /// children are, in today's order. Restored children of another type than the list's are left out.
  ///
  /// ```swift
  /// func installRestoredChildren(_ children: [RestoredChild]) { pages = children.arranged(with: pages) }
  /// ```
  ///
  /// - Parameter existing: The list as it is.
  @MainActor public func arranged<Controller>(with existing: [Controller]) -> [Controller] {
    let children = Array(self)
    let today = existing.compactMap { $0 as? any RestorableController }
    let replacements = Replacements(of: today, by: children)
    let known = children.map { $0.controller ?? replacements.existing[$0.identifier] }
    var taken = Set(known.compactMap { $0.map(ObjectIdentifier.init) })
    func isNew(_ controller: any RestorableController) -> Bool {
      !taken.contains(ObjectIdentifier(controller)) && replacements[controller] == nil
    }
    var secret = today.filter { $0.restoration.protection != nil && isNew($0) }[...]
    let restored = zip(children, known).compactMap { child, controller in
      controller ?? (child.isLocked ? secret.popFirst() : nil)
    }
    taken.formUnion(restored.map(ObjectIdentifier.init))
    return (restored + today.filter(isNew)).compactMap { $0 as? Controller }
  }
}
