import Observation
import StateRestoration
import Testing

/// Dialogs that make room for restored ones.
@MainActor @Suite struct ReplacedDialogTests {
  @Observable final class Dialog: StatefulObject, PresentableController, RestorationParent {
    let restoration: RestorationIdentity
    var restorationChildren: [any RestorableController] = []
    @ObservationIgnored var presentation: ContainerController.Presentation?
    var restorableState = ""

    init(_ identifier: RestorationIdentifier?, _ text: String = "", children: [any RestorableController] = []) {
      restoration = RestorationIdentity(identifier, class: "dialog")
      restorableState = text
      restorationChildren = children
    }
  }

  @Test func `a dialog that makes room for a restored one is told`() {
    let presenter = ContainerController("root")
    let (old, new) = (Dialog("login"), Dialog("rename"))
    presenter.present(old)
    presenter.installRestoredChildren([child("rename", new, role: .presented)])
    #expect(presenter.presentedController === new && new.presentation != nil)
    #expect(old.presentation == nil)
  }
}
