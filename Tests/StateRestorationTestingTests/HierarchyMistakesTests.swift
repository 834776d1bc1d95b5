import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// Declarations that leave something out of the state, each as a small broken program with a healthy twin.
@MainActor @Suite struct HierarchyMistakesTests {
  final class Pane: RestorableController {
    let restoration: RestorationIdentity
    @Restored("text") var text = ""
    init(_ identifier: RestorationIdentifier?) { restoration = RestorationIdentity(identifier) }
  }

  final class Split: RestorationParent {
    let restoration: RestorationIdentity = "split"
    let left = Pane("left")
    let right: Pane
    let banner: Pane?
    private let listsRight: Bool
    var restorationChildren: [any RestorableController] { listsRight ? [left, right] : [left] }

    init(right: RestorationIdentifier? = "right", listsRight: Bool = true, banner: Pane? = nil) {
      self.right = Pane(right)
      self.listsRight = listsRight
      self.banner = banner
    }
  }

  /// The findings of the lint; `assertRestores` fails for the same.
  private func lint<Root: RestorableController>(_ subject: RestorationSubject<Root>) async -> [LintFinding] {
    var findings: [LintFinding] = []
    _ = await TestIssues.collect { findings = await lintRestoration(of: subject) }
    let issues = await TestIssues.collect { await assertRestores(subject) }
    #expect(Set(issues.map(\.text)) == Set(findings.map(\.description)))
    return findings
  }

  @Test func `a window whose place nobody knows has no findings: a stored nil counts as read`() async {
    #expect(await lint(RestorationSubject { WindowController("window") }).isEmpty)
    let sized = RestorationSubject {
      let window = WindowController("window")
      window.windowDidChange(to: .normal, size: WindowController.Size(width: 300, height: 200))
      return window
    }
    #expect(await lint(sized).isEmpty)
  }

  @Test func `a healthy hierarchy has no findings, nor one whose exceptions are named`() async {
    #expect(await lint(RestorationSubject { Split() }).isEmpty)
    #expect(await lint(RestorationSubject(ignoring: ["Pane"]) { Split(right: nil) }).isEmpty)
    #expect(await lint(RestorationSubject(ignoring: ["banner"]) { Split(banner: Pane("banner")) }).isEmpty)
    #expect(await lint(RestorationSubject { Split(banner: Pane(nil)) }).isEmpty)
  }

  @Test(arguments: [false, true]) func `a scope's values have no findings, declared or not`(isDeclared: Bool) async {
    let subject = RestorationSubject { () -> RestorationScope in
      let scope = RestorationScope("program")
      if isDeclared { _ = scope.value("theme", default: "light") }
      return scope
    }
    let findings = await lintRestoration(of: subject) { $0.value("theme", default: "light").value = "dark" }
    #expect(findings.isEmpty)
  }

  @Test func `a child without an identifier is found`() async {
    #expect(
      await lint(RestorationSubject { Split(right: nil) }) == [.missingIdentifier(below: ["split"], type: "Pane")])
  }

  @Test func `a controller that nobody lists is found, also inside an optional`() async {
    #expect(
      await lint(RestorationSubject { Split(listsRight: false) }) == [.unlistedChild(["split"], property: "right")])
    #expect(
      await lint(RestorationSubject { Split(banner: Pane("banner")) }) == [
        .unlistedChild(["split"], property: "banner")
      ])
  }

  class Base: RestorableController {
    let restoration: RestorationIdentity = "base"
  }

  final class Page: RestorableController {
    let restoration: RestorationIdentity
    init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier, class: "page") }
  }

  @Test func `a pushed controller of a class that nobody registered is found`() async throws {
    func findings(_ register: @escaping @MainActor @Sendable (RestorationCoordinator) -> Void) async -> [LintFinding] {
      let subject = RestorationSubject(
        { NavigationController("stack", root: Base()) }, registering: register)
      var findings: [LintFinding] = []
      _ = await TestIssues.collect { findings = await lintRestoration(of: subject, after: { $0.push(Page("page")) }) }
      return findings
    }
    let broken = await findings { _ in }
    #expect(broken.contains { if case .notRestored(["stack", "page"], _) = $0 { true } else { false } }, "\(broken)")
    let healthy = await findings {
      $0.registry.register(Page.self, as: "page") { path, _ in Page(path.components.last ?? "page") }
    }
    #expect(healthy.isEmpty)
  }

  @Test func `a failed check attaches the report and a dump without values`() async {
    let subject = RestorationSubject { Split(right: nil) }
    _ = await TestIssues.collect {
      await assertRestores(subject, after: { $0.left.text = "secret" })
      #expect(TestIssues.attachments.isEmpty, "everything that is listed came back")
    }
    _ = await TestIssues.collect {
      _ = await lintRestoration(of: subject, after: { $0.left.text = "secret" })
      #expect(TestIssues.attachments["restoration-report.txt"]?.contains("left") == true)
      let dump = TestIssues.attachments["preserved-state.txt"] ?? ""
      #expect(dump.contains("left") && dump.contains("text") && !dump.contains("secret"))
    }
  }
}
