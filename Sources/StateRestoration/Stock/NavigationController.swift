public import Observation
public import RestorationArchive

/// A stack of controllers of which the last is seen.
///
/// The stack's order is its state. If a controller on it can't be restored, the stack ends at the one before it.
@Observable @MainActor open class NavigationController: ContainerController {
  /// The controllers from the bottom to the top.
  public private(set) var stack: [any RestorableController] = []

  /// Makes a stack.
  ///
  /// - Parameters:
  ///   - restorationIdentifier: Its name among its siblings; nil excludes it.
  ///   - restorationClass: The registered class that remakes it; nil if it exists at launch.
  ///   - root: The controller at the bottom, if there is one already.
  public init(
    restorationIdentifier: RestorationIdentifier?, restorationClass: RestorationClass? = nil,
    root: (any RestorableController)? = nil
  ) {
    super.init(restorationIdentifier: restorationIdentifier, restorationClass: restorationClass)
    if let root { stack = [root] }
  }

  /// The controller that is seen; nil when the stack is empty.
  public var top: (any RestorableController)? { stack.last }

  /// The stack.
  open override var containedControllers: [any RestorableController] { stack }

  /// Puts a controller on top.
  ///
  /// - Precondition: It is not on the stack already: one object can't be at two places.
  open func push(_ controller: any RestorableController) {
    precondition(
      !stack.contains { $0 === controller },
      "\(describe(controller)) is on the stack of \(describe(self)) already; push another object.")
    stack.append(controller)
  }

  /// Takes the top away; the bottom one stays.
  ///
  /// - Returns: What was taken; nil if there was nothing to take.
  @discardableResult
  open func pop() -> (any RestorableController)? {
    stack.count > 1 ? stack.removeLast() : nil
  }

  /// Takes everything above the bottom away.
  open func popToRoot() {
    if stack.count > 1 { stack.removeSubrange(1...) }
  }

  /// Replaces the whole stack.
  ///
  /// - Precondition: No controller is in it twice.
  open func setStack(_ controllers: [any RestorableController]) {
    for (index, controller) in controllers.enumerated() {
      precondition(
        !controllers[..<index].contains { $0 === controller },
        "\(describe(controller)) would be twice on the stack of \(describe(self)).")
    }
    stack = controllers
  }

  /// Takes the restored stack, up to the first controller that could not be restored.
  ///
  /// Controllers at the bottom that have no identifier are never preserved: they stay where they are, below the restored
  /// ones. If not even the first could be restored, the stack stays what it was at launch.
  open override func install(_ children: [RestoredChild]) {
    let restored = children.prefix { $0.controller != nil }.compactMap(\.controller)
    guard !restored.isEmpty else { return }
    let bottom = stack.prefix { $0.restorationIdentifier == nil }
    setStack(bottom.filter { old in !restored.contains { $0 === old } } + restored)
  }
}

/// How a message names a controller.
@MainActor func describe(_ controller: any RestorableController) -> String {
  "\(type(of: controller)) “\(controller.restorationIdentifier?.rawValue ?? "")”"
}
