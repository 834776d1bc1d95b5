import Foundation
import StateRestoration
import Testing

/// Things left out are said once, and not if they are left out on purpose.
@MainActor @Suite struct OneTimeFindingsTests {
  /// A controller with nothing to preserve but its children.
  private final class Plain: RestorableController {
    var restoration = RestorationIdentity(nil)
  }

  private let bench = Bench()

  private func findings(_ coordinator: RestorationCoordinator, _ root: Screen) async throws -> [PreservationOutcome
    .Finding]
  {
    root.text += "x"
    return try #require(try await coordinator.preserve(root).receipt).findings
  }

  @Test func `an object with state and without an identifier is said once`() async throws {
    let coordinator = bench.launch()
    let root = Screen("root", children: [Panel(nil), Panel(nil)])
    #expect(try await findings(coordinator, root) == [.missingIdentifier(parent: ["root"], owner: "Panel")])
    root.restorationChildren.append(Panel(nil))
    #expect(try await findings(coordinator, root) == [])
  }

  @Test func `the first save after a restoration says it`() async throws {
    try await bench.preserve(Screen("root"))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Panel(nil)])
    try await coordinator.restore(into: root)
    #expect(try await findings(coordinator, root) == [.missingIdentifier(parent: ["root"], owner: "Panel")])
  }

  @Test func `an object left out among others of its class, or without state, is meant to be`() async throws {
    let coordinator = bench.launch()
    let root = Screen("root", children: [Panel(nil), Panel("panel"), Plain()])
    #expect(try await findings(coordinator, root) == [])
  }

  /// A screen that is left out, and says so.
  private final class Excluded: RestorableController, StatefulObject {
    let restoration = RestorationIdentity.excluded
    var restorableState = 0
  }

  @Test func `a screen that says it is excluded on purpose is no finding, and is not preserved`() async throws {
    let coordinator = bench.launch()
    let root = Screen("root", children: [Excluded()])
    #expect(try await findings(coordinator, root) == [])
    root.restorationChildren.append(Panel(nil))
    #expect(try await findings(coordinator, root) == [.missingIdentifier(parent: ["root"], owner: "Panel")])
  }

  @Test func `an object that is made again needs an identifier`() async throws {
    let coordinator = bench.launch()
    let tagged = Plain()
    tagged.restoration.class = "plain"
    let root = Screen("root", children: [tagged])
    #expect(try await findings(coordinator, root) == [.missingIdentifier(parent: ["root"], owner: "Plain")])
  }

  @Test func `a list says once that its association is gone, unless the program has taken it away`() async throws {
    let coordinator = bench.launch()
    let rows = Rows()
    let (lost, held) = (ListWithoutAssociation.make(), ListController("held", association: rows))
    let taken = ListController("taken", association: rows)
    taken.association = nil
    let root = Screen("root", children: [lost, held, taken])
    #expect(try await findings(coordinator, root) == [.associationNotHeld(path: ["root", "list"])])
    lost.dataSourceDidLoad(elementCounts: [2])
    lost.select([[0, 1]])
    #expect(try await findings(coordinator, root) == [])
    withExtendedLifetime(rows) {}
  }

  /// Says some things twice.
  private class Ported: RestorableController {
    let restorationIdentifier: String?
    let restorationClass: RestorationIdentity.ClassTag = "other"
    var restoration: RestorationIdentity { .init("ported", class: "page") }
    init(_ identifier: String?) { restorationIdentifier = identifier }
  }

  @Test func `a property of UIKit's that says something else is said once`() async throws {
    let coordinator = bench.launch { $0.register(Ported.self, as: "page") { _, _ in Ported(nil) } }
    let root = Screen("root", children: [Ported("ported")])
    let path: RestorationPath = ["root", "ported"]
    #expect(
      try await findings(coordinator, root) == [
        .misplacedDeclaration(path: path, owner: "Ported", property: "restorationClass")
      ])
    #expect(try await findings(coordinator, root) == [])
  }

  @Test(arguments: [nil, "ported", "page"]) func `a property that says the same, or nothing, is no finding`(
    _ identifier: String?
  ) async throws {
    let coordinator = bench.launch { $0.register(Ported.self, as: "page") { _, _ in Ported(nil) } }
    let found = try await findings(coordinator, Screen("root", children: [Ported(identifier)]))
    #expect(found.count == (identifier == "page" ? 2 : 1))
  }

  /// Lists a child and a view, and conforms to nothing that has them listed.
  private final class Forgetful: RestorableController {
    let restoration: RestorationIdentity = "forgetful"
    var page: Screen? = Screen("page")
    let fields = [Field("field")]
    var restorationChildren: [any RestorableController] { page.map { [$0] } ?? [] }
    var restorationViews: [any RestorableView] { fields }
  }

  @Test func `a class that lists objects and conforms to nothing is said once`() async throws {
    let coordinator = bench.launch()
    let forgetful = Forgetful()
    let root = Screen("root", children: [forgetful])
    let path: RestorationPath = ["root", "forgetful"]
    #expect(
      try await findings(coordinator, root) == [
        .notListed(path: path, owner: "Forgetful", property: "page", object: "Screen"),
        .notListed(path: path, owner: "Forgetful", property: "fields", object: "Field"),
      ])
    #expect(try await findings(coordinator, root) == [])
  }

  @Test func `an object that knows another one, which is preserved, lists nothing`() async throws {
    let coordinator = bench.launch()
    let forgetful = Forgetful()
    let field = forgetful.fields[0]
    let root = Screen("root", children: [forgetful, try #require(forgetful.page)])
    root.restorationViews = [field]
    #expect(try await findings(coordinator, root) == [])
  }
}
