/// A controller that is presented over another to ask for something, and ends with a result or without.
///
/// ```swift
/// final class RenameController: PresentableController {
///   let restoration = RestorationIdentity("rename", class: "rename")
///   var presentation: ContainerController.Presentation?
///   @Restored("name") var name = ""
///
///   func done() { presentation?.finish(with: name) }
/// }
/// ```
///
/// The presenter says what to do with the result in ``ContainerController/expectResult(of:as:handler:)``; that holds across
/// restarts.
@MainActor public protocol PresentableController: RestorableController {
  /// The connection to the presenter; set while the controller is presented, by the presenter.
  var presentation: ContainerController.Presentation? { get set }
}

extension ContainerController {
  /// The connection of a presented controller to its presenter; it keeps neither alive.
  @MainActor public final class Presentation {
    /// The container that presents.
    package private(set) weak var presenter: ContainerController?

    private weak var presented: (any RestorableController)?

    init(presenter: ContainerController, presented: any RestorableController) {
      self.presenter = presenter
      self.presented = presented
    }

    /// Ends the presentation and hands a result to the presenter.
    ///
    /// Does nothing once it has ended.
    public func finish(with result: some Any) {
      guard let presented else { return }
      presenter?.finishPresentation(of: presented, with: result)
    }

    /// Ends the presentation without a result.
    ///
    /// Does nothing once it has ended.
    public func cancel() {
      guard let presented else { return }
      presenter?.finishPresentation(of: presented, with: nil)
    }
  }
}
