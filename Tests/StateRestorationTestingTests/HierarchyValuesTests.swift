import Foundation
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct HierarchyValuesTests {
  struct Place: Codable, Sendable {
    var row = 0
    var offset = 0.5
  }

  enum Mode: String, Codable, Sendable { case plain, bold }

  final class Cache {}

  class Base: RestorationParent {
    let restoration: RestorationIdentity
    var restorationChildren: [any RestorableController] = []
    @Restored("query") var query = "a"
    init(_ identifier: RestorationIdentifier?) { restoration = RestorationIdentity(identifier) }
  }

  final class Everything: Base {
    var place: Place? = Place()
    var tags: Set<String> = ["b", "a"]
    var counts = ["y": 2, "x": 1]
    var mode = Mode.bold
    var moment = Date(timeIntervalSinceReferenceDate: 5)
    var missing: Int?
    var bytes = Data([1, 255])
    let cache = Cache()
    var action: () -> Void = {}
    weak var other: Base?
  }

  @Test func `every stored value is found, in superclasses and structs too`() {
    let root = Everything("root")
    let other = Base("other")
    root.other = other
    root.restorationChildren = [other]
    let values = HierarchyValues(of: root).properties
    let found = values[["root"]] ?? [:]
    #expect(found["query"] == "\"a\"")
    #expect(found["place.row"] == "0" && found["place.offset"] == "0.5")
    #expect(found["tags"] == "[\"a\", \"b\"]")
    #expect(found["counts"] == "[\"x\": 1, \"y\": 2]")
    #expect(found["mode"] == ".bold")
    #expect(found["moment"] == "Date(5.0)")
    #expect(found["missing"] == "nil")
    #expect(found["bytes"] == "Data(01ff)")
    #expect(found["other"] == "→ other", "a reference to a preserved object counts as its identifier")
    #expect(found["cache"] == nil && found["action"] == nil)
    #expect(values[["root", "other"]] != nil)
  }

  @Test func `a list that has no data yet is as good as one before its data`() async throws {
    let subject = RestorationSubject { ListController("list") }
    #expect(await assertRestores(subject) == [])
    // A selection that waits for its data has not come back yet, and that is told.
    let issues = await TestIssues.collect {
      _ = await assertRestores(subject) { list in
        list.dataSourceDidLoad(elementCounts: [3])
        list.select([IndexPath(indexes: [0, 1])])
      }
    }
    #expect(!issues.isEmpty)
  }

  @Test func `what is below a controller without an identifier is left out`() {
    let root = Base("root")
    let excluded = Base(nil)
    excluded.restorationChildren = [Base("below")]
    root.restorationChildren = [excluded, Base("")]
    #expect(HierarchyValues(of: root).properties.keys.map(\.description) == [RestorationPath(["root"]).description])
  }

  @Test func `differences name the path, the property and both values`() {
    let (before, after) = (Everything("root"), Everything("root"))
    before.restorationChildren = [Base("gone")]
    after.restorationChildren = [Base("new")]
    after.place?.row = 7
    after.query = "b"
    let differences = HierarchyValues(of: before, ignoring: ["restorationChildren"])
      .differences(to: HierarchyValues(of: after, ignoring: ["restorationChildren"]))
    #expect(
      differences.map {
        "\($0.path.components.map(\.rawValue)) \($0.property ?? "-") \($0.before ?? "-") \($0.after ?? "-")"
      }
        == [
          "[\"root\"] place.row 0 7", "[\"root\"] query \"a\" \"b\"", "[\"root\", \"gone\"] - there -",
          "[\"root\", \"new\"] - - there",
        ])
    #expect(HierarchyValues(of: before).differences(to: HierarchyValues(of: before)).isEmpty)
  }

  @Test func `ignored properties and fields are not compared`() {
    let (before, after) = (Everything("root"), Everything("root"))
    after.place?.row = 7
    after.query = "b"
    let ignored: Set<String> = ["query", "place.row"]
    #expect(
      HierarchyValues(of: before, ignoring: ignored).differences(to: HierarchyValues(of: after, ignoring: ignored))
        .isEmpty)
  }
}
