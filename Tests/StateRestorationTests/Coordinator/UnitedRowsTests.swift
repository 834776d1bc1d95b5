import RestorationArchive
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// Rows that come to have one key, and what the report says of their records.
@MainActor @Suite(.timeLimit(.minutes(5))) struct UnitedRowsTests: SizedTexts {
  @Test func `the report says of each record beside the given one that it is superseded`() async throws {
    let bench = Bench()
    func editor(_ model: ModelIdentifier?, _ text: String = "") -> Screen {
      let editor = Screen("editor", text: text)
      editor.restoration.model = model
      return editor
    }
    try await bench.preserve(Screen("root", children: [editor(nil, "draft")]))
    let root = Screen("root", children: [editor("M")])
    try await bench.launchLocked(root) { root["editor"]?.text = "one" }
    try await bench.kill()
    try await bench.unlock()
    let shown = Screen("root", children: [editor("M")])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: shown)
    _ = try await coordinator.preserve(shown)
    let stored = try bench.storedTexts().count - 1
    #expect(report[["root", "editor"]]?.remarks == (stored > 1 ? [.superseded(stored - 1)] : []))
  }

  @Test(arguments: sizes)
  func `what two versions have saved under two tags is one row, and goes with its object`(size: Int) async throws {
    let bench = Bench()
    func launch(_ tag: RestorationIdentity.ClassTag) -> RestorationCoordinator {
      bench.launch {
        $0.register(Screen.self, as: tag, formerly: tag == "note" ? ["memo"] : []) { path, _ in
          Screen(path.last, tag: tag)
        }
      }
    }
    let first = Screen("root", children: [Screen("page", text: text("A", size), tag: "memo")])
    _ = try await launch("memo").preserve(first)
    let (second, later) = (Screen("root"), launch("note"))
    _ = try await later.restore(into: second)
    #expect(word(second["page"]?.text) == "A")
    second["page"]?.text = text("B", size)
    _ = try await later.preserve(second)
    let (third, older) = (Screen("root"), launch("memo"))
    _ = try await older.restore(into: third)
    let page = Screen("page", tag: "memo")
    third.restorationChildren = [page]
    _ = try await older.preserve(third)
    page.text = text("C", size)
    _ = try await older.preserve(third)
    let (fourth, newest) = (Screen("root"), launch("note"))
    let report = try await newest.restore(into: fourth)
    #expect(word(fourth["page"]?.text) == "C")
    #expect(report[["root", "page"]]?.remarks == [.superseded(1)], "\(report)")
    fourth.restorationChildren = []
    _ = try await newest.preserve(fourth)
    let fifth = Screen("root")
    let last = try await launch("note").restore(into: fifth)
    #expect(fifth.restorationChildren.isEmpty, "\(word(fifth["page"]?.text) ?? "") \(last)")
  }
}
