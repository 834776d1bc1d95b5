import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// What a capture hands over: parents by number, no paths (what bites, 6).
@MainActor @Suite struct CaptureFormTests {
  @Test func `a capture holds no path, however deep the tree`() {
    var top = Screen("leaf", text: "x")
    for index in 0..<50 { top = Screen(RestorationIdentifier("level \(index)"), children: [top]) }
    let changes = ChangeList {}
    let context = RestorationConfiguration().context
    let tree = LiveTree(registry: RestorationRegistry(), changes: changes, context: context)
    let batch = tree.capture(roots: [top], scope: .all, context: .test)
    #expect(batch.records.count == 51)
    #expect(paths(in: batch) == 0)
    #expect(paths(in: [RestorationPath(["a"])]) == 1, "the search finds paths")
  }

  @Test func `what has left the hierarchy is forgotten, whether it died or not`() {
    let root = Screen("root")
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
    var kept: Screen?
    for number in 0..<20 {
      let child = Screen("child", children: [Screen("grandchild")])
      root.restorationChildren = [child]
      _ = tree.capture(roots: [root], scope: .all, context: .test)
      #expect(tree.byObject.count == 3)
      if number == 10 { kept = child }
    }
    root.restorationChildren = []
    _ = tree.capture(roots: [root], scope: .all, context: .test)
    #expect(tree.byObject.count == 1)
    #expect(kept != nil)
  }

  @Test func `an object at the address of one that died is another one`() {
    let root = Screen("root")
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
    _ = tree.capture(roots: [root], scope: .all, context: .test)
    for number in 0..<20 {
      root.restorationChildren = []
      // Most allocators give it the place of the last one.
      root.restorationChildren = [Silent("child", number)]
      let batch = tree.capture(roots: [root], scope: .all, context: .test)
      #expect(batch.placements.count == 1)
      #expect(batch.removals.count == (number == 0 ? 0 : 1))
      let values = batch.records.flatMap { batch.entries(of: $0) }.compactMap { $0.value as? Int }
      #expect(values == [number])
    }
  }

  @Test func `plain, special and excluded objects of one class are captured as they are`() throws {
    let leaves = (0..<150).map { Silent("leaf \($0)", $0) }
    let root = Screen("root", children: leaves)
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
    _ = tree.capture(roots: [root], scope: .all, context: .test)
    leaves[3].restoration.model = "model"
    leaves[70].restoration.priority = .high
    leaves[71].restoration.class = "tag"
    leaves[140].restoration.identifier = nil
    for leaf in leaves { leaf.restorableState += 1000 }
    for _ in 0..<2 {
      let batch = tree.capture(roots: [root], scope: .all, context: .test)
      var found: [Int: RestorationArchive.Attributes] = [:]
      for record in batch.records where !batch.removals.contains(record.key) {
        guard let value = batch.entries(of: record).first?.value as? Int else { continue }
        #expect(found.updateValue(batch.attributes(of: record), forKey: value - 1000) == nil)
      }
      #expect(found.keys.sorted() == (0..<150).filter { $0 != 140 })
      for (number, attributes) in found {
        #expect(attributes.model == (number == 3 ? "model" : nil))
        #expect(attributes.priority == (number == 70 ? .high : .normal))
        #expect(attributes.classTag == (number == 71 ? "tag" : "Silent"))
      }
    }
  }

  /// A controller that nothing observes.
  final class Silent: RestorableController, StatefulObject {
    var restoration: RestorationIdentity
    var restorableState: Int

    init(_ identifier: RestorationIdentifier, _ value: Int) {
      restoration = RestorationIdentity(identifier)
      restorableState = value
    }
  }

  @Test func `what silent objects were given is read by the capture after, whomever that asks`() {
    for scope in [LiveTree.Scope.noticed, .all] {
      let tree = LiveTree(
        registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
      let objects = (0..<3).map { Silent("child \($0)", $0) }
      let root = Screen("root", children: objects)
      // The last is read first, and tells what instances of the class have in common; the first was given nothing.
      for object in objects[1...] { tree.given.note(object, .own(NodeID(rawValue: 7)), of: nil, outlives: false) }
      let first = tree.capture(roots: [root], scope: .all, context: .test, isMeeting: true)
      #expect(first.placements.count == 4)
      #expect(first.records.count == 3)
      #expect(tree.capture(roots: [root], scope: scope, context: .test).records.count == (scope == .all ? 3 : 1))
      let batch = tree.capture(roots: [root], scope: .noticed, context: .test)
      #expect(batch.placements.isEmpty && batch.removals.isEmpty && batch.orders.isEmpty && batch.records.isEmpty)
    }
  }

  @Test func `an object that shows another model than it was given is read at once`() {
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
    let objects = (0..<3).map { Silent("child \($0)", $0) }
    objects[2].restoration.model = "other"
    for object in objects { tree.given.note(object, .own(NodeID(rawValue: 7)), of: nil, outlives: false) }
    let batch = tree.capture(roots: [Screen("root", children: objects)], scope: .all, context: .test, isMeeting: true)
    #expect(batch.records.contains { $0.model == "other" })
  }

  @Test func `a container that gave its children no roles is asked again`() {
    let late = LateRoles(child: Silent("child", 1))
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context)
    #expect(
      tree.capture(roots: [late], scope: .all, context: .test).records.allSatisfy { $0.role == nil })
    late.role = "late"
    #expect(tree.capture(roots: [late], scope: .all, context: .test).records.count { $0.role != nil } == 1)
  }

  /// A container whose children have a role some time.
  final class LateRoles: RestorationContainer {
    let restoration: RestorationIdentity = "late"
    let restorationChildren: [any RestorableController]
    var role: RestoredChild.Role?
    init(child: any RestorableController) { restorationChildren = [child] }
    func installRestoredChildren(_ children: [RestoredChild]) {}
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { role }
  }

  /// How many paths a value holds, at any depth.
  private func paths(in value: Any) -> Int {
    if value is RestorationPath { return 1 }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle != .class else { return 0 }
    return mirror.children.reduce(0) { $0 + paths(in: $1.value) }
  }
}
