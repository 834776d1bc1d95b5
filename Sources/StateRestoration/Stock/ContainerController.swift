public import Observation

/// The base of the stock containers: an identifier, an optional class, and one controller presented over it.
///
/// It draws nothing: a toolkit adapter mirrors it, observing its properties. Subclass it for a container of your own:
/// give ``containedControllers`` and take them back in ``install(_:)``; presentation and its restoring are done here.
///
/// Every requirement is declared here as `open`, so that a subclass's own declaration is the one that is called.
/// Containers own their children; whatever leads upwards is weak.
@Observable @MainActor
open class ContainerController: CodingObject, RestorationContainer, RestorationViewOwner, FinishingObject {
  /// What the controller is called among its siblings, which class remakes it, and whose state it has.
  ///
  /// A subclass with coder methods of its own that has older versions names its version in it.
  open var restoration: RestorationIdentity {
    get { identity }
    set { identity = newValue }
  }

  /// The controller presented over this one; see ``present(_:)``.
  public private(set) var presentedController: (any RestorableController)?

  private var identity: RestorationIdentity
  @ObservationIgnored private var expectedResults: [RestorationIdentifier: @MainActor (Any) -> Void] = [:]
  /// Results that came before anybody said what to do with them; the newest per identifier.
  @ObservationIgnored private var unclaimedResults: [RestorationIdentifier: Any] = [:]

  /// Makes a container without children.
  ///
  /// - Parameter restoration: What it is called among its siblings, and which class remakes it.
  public init(_ restoration: RestorationIdentity) { identity = restoration }

  /// The children other than the presented one, first to last.
  ///
  /// None here. A subclass of a ``WindowController`` may list more beside those of `super`. A
  /// subclass of another stock container, or one whose children come and go, overrides ``install(_:)`` too: else the stock
  /// container takes the restored children for its own.
  open var containedControllers: [any RestorableController] { [] }

  /// The contained controllers and then the presented one.
  open var restorationChildren: [any RestorableController] {
    if let presentedController { return containedControllers + [presentedController] }
    return containedControllers
  }

  /// The children that are seen now: all of them, as what is presented leaves something of the others to be seen.
  ///
  /// Asked before a snapshot is taken: a visible screen that is not preserved will not come back, and is in no picture. List a
  /// child without an identifier too, if it is seen.
  open var visibleControllers: [any RestorableController] { restorationChildren }

  /// No views.
  open var restorationViews: [any RestorableView] { [] }

  /// Preserves the container's own state; a subclass adds its own under its own keys and calls `super`.
  open func encodeRestorableState(with coder: RestorationEncoder) {}

  /// Restores the container's own state; a subclass reads its own and calls `super`.
  open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}

  /// Called when every object has its state; a subclass of a ``ListController`` calls `super`.
  open func applicationFinishedRestoringState() {}

  /// The role of a child whose place in the order doesn't say it: a column, the presented child.
  open func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
    child === presentedController ? .presented : nil
  }

  /// Takes the contained children back.
  ///
  /// A container of your own overrides it beside ``containedControllers``.
  ///
  /// - Parameter children: The preserved children but the presented one, in the order of preserving, and then those that
  ///   were carried over; those that could not be restored have no controller.
  open func install(_ children: [RestoredChild]) {}

  /// Takes all children back: the contained ones through ``install(_:)``, and the one presented last, if it was restored.
  ///
  /// A controller that was presented when it was preserved, and is contained now, stays contained. One that the program
  /// presents, and that was contained, is dismissed. A controller that was made anew counts as the one that it replaces.
  open func installRestoredChildren(_ children: [RestoredChild]) {
    let contained = containedControllers
    let replacements = Replacements(of: contained + [presentedController].compactMap { $0 }, by: children)
    func isContained(_ child: RestoredChild) -> Bool {
      guard let controller = child.controller else { return false }
      return contained.contains { $0 === controller || replacements[$0] === controller }
    }
    install(children.filter { $0.role != .presented || isContained($0) })
    if let former = presentedController {
      let restored = replacements[former] ?? former
      if containedControllers.contains(where: { $0 === restored }) { dismiss() }
    }
    var presented = children.filter { $0.role == .presented }
    // What an earlier run has left behind does not stand in for a later one that could not be made.
    if presented.contains(where: { !$0.wasCarriedOver }) { presented.removeAll(where: \.wasCarriedOver) }
    presented.removeAll(where: isContained)
    if let newest = presented.newest, newest !== presentedController { present(newest) }
  }
}

extension ContainerController {
  /// Presents a controller over this one; one presented before is dismissed without a result.
  public func present(_ controller: any RestorableController) {
    dismiss()
    presentedController = controller
    if let presentable = controller as? any PresentableController {
      presentable.presentation = Presentation(presenter: self, presented: controller)
    }
  }

  /// Takes the presented controller away.
  ///
  /// Does nothing when there is none.
  public func dismiss() {
    // Another container may present it by now: the connection is that one's.
    if let presentable = presentedController as? any PresentableController, presentable.presentation?.presenter === self
    {
      presentable.presentation = nil
    }
    presentedController = nil
  }

  /// Handles the result of a presented controller, now or after a restoration.
  ///
  /// A closure given at presenting would die with the process. Say it where the presenter is made instead, and the result
  /// of a presented controller that was restored reaches the restored presenter. A result that came before is kept, the
  /// newest of each identifier, and handed over at once, before this returns.
  ///
  /// ```swift
  /// expectResult(of: "rename", as: String.self) { [weak self] name in self?.rename(to: name) }
  /// ```
  ///
  /// - Parameters:
  ///   - identifier: The presented controller's restoration identifier.
  ///   - type: The result's type; a result of another type is a programmer's mistake and traps.
  ///   - handler: Called on the main actor after the presented controller is gone. Hold `self` weakly.
  public func expectResult<Result>(
    of identifier: RestorationIdentifier, as type: Result.Type = Result.self,
    handler: @escaping @MainActor (Result) -> Void
  ) {
    expectedResults[identifier] = { result in
      guard let result = result as? Result else {
        preconditionFailure(
          "The presented controller “\(identifier)” finished with a \(Swift.type(of: result)), but its presenter expects a \(Result.self)."
        )
      }
      handler(result)
    }
    if let result = unclaimedResults.removeValue(forKey: identifier) { expectedResults[identifier]?(result) }
  }

  /// Takes a presented controller away and hands its result over.
  ///
  /// Called by ``ContainerController/Presentation``.
  func finishPresentation(of controller: any RestorableController, with result: Any?) {
    guard controller === presentedController else { return }
    let identifier = controller.restoration.identifier
    dismiss()
    guard let result, let identifier else { return }
    if let handler = expectedResults[identifier] { handler(result) } else { unclaimedResults[identifier] = result }
  }
}
