import StateRestoration
import Testing

@MainActor struct PresentationTests {
  final class Sheet: PresentableController {
    let restoration: RestorationIdentity = "rename"
    var presentation: ContainerController.Presentation?
  }

  final class Owner: ContainerController {
    var names: [String] = []

    init() {
      super.init("owner")
      expectResult(of: "rename", as: String.self) { [weak self] in self?.names.append($0) }
    }
  }

  @Test func `the result of a restored sheet reaches the restored owner`() {
    let owner = Owner()
    let sheet = Sheet()
    owner.installRestoredChildren([child("rename", sheet, role: .presented)])
    #expect(owner.presentedController === sheet)
    sheet.presentation?.finish(with: "new name")
    #expect(owner.names == ["new name"])
    #expect(owner.presentedController == nil)
  }

  @Test func `a presented controller that can't be restored is not presented`() {
    let owner = Owner()
    owner.installRestoredChildren([child("rename", nil, role: .presented)])
    #expect(owner.presentedController == nil)
    #expect(owner.restorationChildren.isEmpty)
  }

  final class Desk: ContainerController {
    @Restored("value") var value = 0

    init() { super.init("desk") }
  }

  @Test(arguments: StoreKind.allCases)
  func `a presented controller that was away in one run is presented again in the next`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let first = Desk()
    first.present(Screen("sheet", text: "shown"))
    try await bench.preserve(first)
    let coordinator = bench.launch()
    let without = Desk()
    _ = try await coordinator.restore(into: without)
    without.value = 5
    _ = try await coordinator.preserve(without)
    bench.delegate.make = { path, _ in path.last == "sheet" ? Screen("sheet") : nil }
    let again = Desk()
    _ = try await bench.launch().restore(into: again)
    #expect(again.value == 5)
    #expect((again.presentedController as? Screen)?.text == "shown")
  }

  @Test func `a result that comes before anybody expects it is kept until somebody does`() {
    let owner = ContainerController("owner")
    var names: [String] = []
    for name in ["older", "newer"] {
      let sheet = Sheet()
      owner.present(sheet)
      sheet.presentation?.finish(with: name)
    }
    owner.expectResult(of: "other", as: String.self) { names.append("other \($0)") }
    #expect(names.isEmpty)
    owner.expectResult(of: "rename", as: String.self) { names.append($0) }
    #expect(names == ["newer"])
    owner.expectResult(of: "rename", as: String.self) { names.append("again \($0)") }
    #expect(names == ["newer"])
  }

  @Test func `a cancelled sheet has no result, and a finished one no second`() {
    let owner = Owner()
    let sheet = Sheet()
    owner.present(sheet)
    let presentation = sheet.presentation
    presentation?.cancel()
    #expect(owner.presentedController == nil && sheet.presentation == nil)
    presentation?.finish(with: "late")
    #expect(owner.names.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a sheet that was presented elsewhere meanwhile stays so when its former presenter lets go`(isReplaced: Bool) {
    let (former, owner) = (ContainerController("former"), Owner())
    let sheet = Sheet()
    former.present(sheet)
    owner.present(sheet)
    if isReplaced { former.present(LeafController("other")) } else { former.dismiss() }
    #expect(sheet.presentation?.presenter === owner)
    sheet.presentation?.finish(with: "new name")
    #expect(owner.names == ["new name"])
    #expect(owner.presentedController == nil && sheet.presentation == nil)
  }

  @Test func `the presented child is preserved as such, after the contained ones`() {
    let navigation = NavigationController("nav", root: LeafController("a"))
    let sheet = Sheet()
    navigation.present(sheet)
    #expect(navigation.restorationChildren.map(\.restoration.identifier) == ["a", "rename"])
    #expect(navigation.restorationRole(of: sheet) == .presented)
    #expect(navigation.stack.first.flatMap(navigation.restorationRole) == nil)
  }

  @Test func `a result of the wrong type is a mistake`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        let owner = Owner()
        let sheet = Sheet()
        owner.present(sheet)
        sheet.presentation?.finish(with: 7)
      }
    }
  }
}
