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
    let tree = CaptureTree(registry: RestorationRegistry(), changes: changes, context: context, now: { Date() })
    let batch = tree.capture(roots: [top], scope: .all)
    #expect(batch.records.count == 51)
    #expect(paths(in: batch) == 0)
    #expect(paths(in: [RestorationPath(["a"])]) == 1, "the search finds paths")
  }

  @Test func `what has left the hierarchy is forgotten, whether it died or not`() {
    let root = Screen("root")
    let tree = CaptureTree(
      registry: RestorationRegistry(), changes: ChangeList {}, context: RestorationConfiguration().context,
      now: { Date() })
    var kept: Screen?
    for number in 0..<20 {
      let child = Screen("child", children: [Screen("grandchild")])
      root.restorationChildren = [child]
      _ = tree.capture(roots: [root], scope: .all)
      #expect(tree.bindings.count == 3)
      if number == 10 { kept = child }
    }
    root.restorationChildren = []
    _ = tree.capture(roots: [root], scope: .all)
    #expect(tree.bindings.count == 1)
    #expect(kept != nil)
  }

  /// How many paths a value holds, at any depth.
  private func paths(in value: Any) -> Int {
    if value is RestorationPath { return 1 }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle != .class else { return 0 }
    return mirror.children.reduce(0) { $0 + paths(in: $1.value) }
  }
}
