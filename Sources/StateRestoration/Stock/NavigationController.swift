public import Observation

/// A stack of controllers of which the last is seen.
///
/// The order of the stack is its state. Where a controller can't be restored the stack ends below it; only controllers pushed
/// onto those that came back without it, while the device was locked, go on top. The rest above is carried over. It
/// comes back on top of the very controller that it stood on, never among or on top of newer ones; it stays stored while that
/// one has another identifier.
///
/// Controllers on one stack need different identifiers: where the user can come to the same screen twice, make one for each
/// push with ``identifier(forPushing:)``. A controller that restoring died at is on top again, with the rest above it, when it is asked for.
@Observable @MainActor open class NavigationController: ContainerController {
  /// The controllers from the bottom to the top.
  public private(set) var stack: [any RestorableController] = []

  /// Where on the stack each of them is.
  @ObservationIgnored private var places: [ObjectIdentifier: Int] = [:]

  /// Makes a stack.
  ///
  /// - Parameters:
  ///   - restoration: What it is called among its siblings, and which class remakes it.
  ///   - root: The controller at the bottom, if there is one already.
  public init(
    _ restoration: RestorationIdentity,
    root: (any RestorableController)? = nil
  ) {
    super.init(restoration)
    if let root { replaceStack(by: [root]) }
  }

  /// The controller that is seen; nil when the stack is empty.
  public var top: (any RestorableController)? { stack.last }

  /// The stack.
  override open var containedControllers: [any RestorableController] { stack }

  /// An identifier that nothing on the stack has: the name itself, or the name with a number.
  ///
  /// For screens that can be on the stack more than once. The identifier says which push it was; what the screen shows
  /// belongs into its ``RestorationIdentity/model``, which its factory finds in the coder.
  ///
  /// ```swift
  /// stack.push(ItemScreen("Milk", identifier: stack.identifier(forPushing: "item")))
  /// ```
  public func identifier(forPushing name: RestorationIdentifier) -> RestorationIdentifier {
    let taken = Set(restorationChildren.compactMap(\.restoration.identifier))
    guard taken.contains(name) else { return name }
    // One of so many is free.
    let numbered = (2...taken.count + 1).lazy.map { RestorationIdentifier("\(name.rawValue) \($0)") }
    return numbered.first { !taken.contains($0) } ?? name
  }

  /// The top of the stack, and what is presented over it.
  override open var visibleControllers: [any RestorableController] {
    [top, presentedController].compactMap { $0 }
  }

  /// Puts a controller on top.
  ///
  /// - Precondition: It is not on the stack already: one object can't be at two places.
  open func push(_ controller: any RestorableController) {
    precondition(
      places.updateValue(stack.count, forKey: ObjectIdentifier(controller)) == nil,
      "\(describe(controller)) is on the stack of \(describe(self)) already; push another object.")
    stack.append(controller)
  }

  /// Takes the top away; the bottom one stays.
  ///
  /// - Returns: The former top; nil if the stack has only its bottom.
  @discardableResult
  open func pop() -> (any RestorableController)? {
    guard stack.count > 1 else { return nil }
    let top = stack.removeLast()
    places[ObjectIdentifier(top)] = nil
    return top
  }

  /// Takes everything above the bottom away.
  open func popToRoot() {
    if stack.count > 1 { replaceStack(by: [stack[0]]) }
  }

  /// Replaces the whole stack.
  ///
  /// - Precondition: No controller is in it twice.
  open func setStack(_ controllers: [any RestorableController]) { replaceStack(by: controllers) }

  private func replaceStack(by controllers: [any RestorableController]) {
    var places: [ObjectIdentifier: Int] = [:]
    places.reserveCapacity(controllers.count)
    for (index, controller) in controllers.enumerated() {
      precondition(
        places.updateValue(index, forKey: ObjectIdentifier(controller)) == nil,
        "\(describe(controller)) would be twice on the stack of \(describe(self)).")
    }
    self.places = places
    stack = controllers
  }

  /// Which controller a child stands on; nil for the bottom of the stack.
  override open func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
    // Whoever observes this observes the stack.
    let stack = stack
    // One without a name has no role, and none is looked for: that would go through all below it that have no name either.
    guard child.restoration.identifier != nil, let index = places[ObjectIdentifier(child)],
      let below = stack[..<index].lastIndex(where: { $0.restoration.identifier != nil })
    else { return super.restorationRole(of: child) }
    // The identifier of a screen with a class of protection of its own may be a secret of that class.
    guard stack[below].restoration.protection == nil else {
      return .standing(above: stack[..<below].count { $0.restoration.identifier != nil })
    }
    return stack[below].restoration.identifier.map(RestoredChild.Role.standing(on:))
  }

  /// Takes the restored stack as it was left last, without the first controller that could not be restored and those above
  /// it, and on top of it those that were carried over and stood there.
  ///
  /// Controllers at the bottom that have no identifier are never preserved: they stay where they are, below the restored
  /// ones. If not even the first could be restored, the stack stays what it was at launch.
  override open func install(_ children: [RestoredChild]) {
    var newest = children.filter { !$0.wasCarriedOver }
    var waiting = children.filter(\.wasCarriedOver)
    if newest.isEmpty { swap(&newest, &waiting) }
    var taken = Array(newest.prefix { $0.controller != nil })
    guard !taken.isEmpty else { return }
    if taken.count < newest.count {
      // Behind one that is missing stand those that were put on the others without it, while locked.
      var places = Set(taken.enumerated().map { RestoredChild.Role.standing(on: $0.element, at: $0.offset) })
      for child in newest.dropFirst(taken.count)
      where child.controller != nil && child.role.map(places.contains) == true {
        taken.append(child)
        places.insert(.standing(on: child, at: taken.count - 1))
      }
    }
    while taken.count >= newest.count,
      let place = taken.last.map({ RestoredChild.Role.standing(on: $0, at: taken.count - 1) }),
      let next = waiting.firstIndex(where: { $0.role == place && $0.controller != nil })
    {
      taken.append(waiting.remove(at: next))
    }
    let restored = taken.compactMap(\.controller)
    let bottom = stack.prefix { $0.restoration.identifier == nil }
    let identities = Set(restored.map(ObjectIdentifier.init))
    setStack(bottom.filter { !identities.contains(ObjectIdentifier($0)) } + restored)
  }
}

extension RestorationArchive.Role {
  /// A controller on a stack that stands on another one.
  fileprivate static func standing(on identifier: RestorationIdentifier) -> RestoredChild.Role {
    RestoredChild.Role(rawValue: "on \(identifier.rawValue)")
  }

  /// A controller that stands on the one at a place among those that have names.
  fileprivate static func standing(above place: Int) -> RestoredChild.Role {
    RestoredChild.Role(rawValue: "above \(place)")
  }

  /// A controller that stands on a restored one.
  @MainActor fileprivate static func standing(on child: RestoredChild, at place: Int) -> RestoredChild.Role {
    child.controller?.restoration.protection == nil ? .standing(on: child.identifier) : .standing(above: place)
  }
}

/// How a message names a controller.
@MainActor func describe(_ controller: any RestorableController) -> String {
  "\(type(of: controller)) “\(controller.restoration.identifier?.rawValue ?? "")”"
}
