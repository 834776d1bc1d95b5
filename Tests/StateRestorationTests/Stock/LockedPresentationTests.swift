import Observation
import StateRestoration
import Testing

/// Dialogs that are presented while the device is locked.
@MainActor @Suite struct LockedPresentationTests {
  @Observable final class Dialog: StatefulController, PresentableController {
    let restorationIdentifier: RestorationIdentifier?
    let restorationClass: RestorationClass? = "dialog"
    var restorationChildren: [any RestorableController] = []
    @ObservationIgnored var presentation: Presentation?
    var restorableState = ""

    init(_ identifier: RestorationIdentifier?, _ text: String = "", children: [any RestorableController] = []) {
      restorationIdentifier = identifier
      restorableState = text
      restorationChildren = children
    }
  }

  final class Presenter: ContainerController {
    var results: [String] = []
    var note = ""

    init() {
      super.init(restorationIdentifier: "root")
      for name in ["rename", "move"] as [RestorationIdentifier] {
        expectResult(of: name, as: String.self) { [weak self] in self?.results.append($0) }
      }
    }

    override func encodeRestorableState(with coder: RestorationEncoder) {
      super.encodeRestorableState(with: coder)
      coder.encode(note, forKey: "note")
    }
  }

  @Test(arguments: ["rename", "move"] as [RestorationIdentifier], [false, true])
  func `a dialog that the user presents while locked stays at the unlock`(
    name: RestorationIdentifier, isPresenterTouched: Bool
  ) async throws {
    let bench = Bench()
    func launch() -> RestorationCoordinator {
      bench.launch {
        $0.register(Dialog.self, as: "dialog") { path, _ in Dialog(path.last, children: [Screen("field")]) }
      }
    }
    let first = Presenter()
    first.present(Dialog("rename", "stored", children: [Screen("field", text: "stored")]))
    _ = try await launch().preserve(first)
    try await bench.lock()
    let coordinator = launch()
    let presenter = Presenter()
    #expect(try await coordinator.restore(into: presenter).outcome == .locked)
    let field = Screen("field", text: "field")
    let dialog = Dialog(name, children: [field])
    presenter.present(dialog)
    for _ in 0..<5 { await Task.yield() }
    dialog.restorableState = "typed while locked"
    if isPresenterTouched { presenter.note = "touched" }
    try await bench.unlock(coordinator)
    #expect(presenter.presentedController === dialog)
    #expect(dialog.restorableState == "typed while locked")
    #expect(dialog.presentation?.presenter === presenter)
    #expect(field.text == "field")
    #expect(bench.delegate.lateReports.first?[["root", name]]?.notRestoredReason == .touchedMeanwhile)
    _ = try await coordinator.preserve(presenter)
    let again = Presenter()
    _ = try await launch().restore(into: again)
    let shown = try #require(again.presentedController as? Dialog)
    #expect(shown.restorationIdentifier == name && shown.restorableState == "typed while locked")
    #expect((shown.restorationChildren.first as? Screen)?.text == "field")
    shown.presentation?.finish(with: "done")
    dialog.presentation?.finish(with: "done too")
    #expect(again.results == ["done"] && presenter.results == ["done too"])
  }

  @Test func `a dialog that makes room for a restored one is told`() {
    let presenter = ContainerController(restorationIdentifier: "root")
    let (old, new) = (Dialog("login"), Dialog("rename"))
    presenter.present(old)
    presenter.installRestoredChildren([child("rename", new, role: .presented)])
    #expect(presenter.presentedController === new && new.presentation != nil)
    #expect(old.presentation == nil)
  }
}
