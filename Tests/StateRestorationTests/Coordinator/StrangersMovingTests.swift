import StateRestoration
import StateRestorationTesting
import Testing

/// What is edited and goes elsewhere in one save, in screens that were refused what is stored in their places.
@MainActor @Suite struct StrangersMovingTests {
  /// In what the new screen differs from the one that had the place.
  enum Difference: CaseIterable, Sendable {
    case tag, model
  }

  private func sheet(
    _ identifier: RestorationIdentifier, _ difference: Difference, _ value: String, children: [Sheet]
  ) -> Sheet {
    let sheet = Sheet(identifier, children: children)
    switch difference {
    case .tag: sheet.restorationClass = RestorationClass(value)
    case .model: sheet.restorationModelIdentifier = ModelIdentifier(value)
    }
    return sheet
  }

  /// Where the screen goes.
  enum Exit: CaseIterable, Sendable {
    case renamed, moved
  }

  @Test(arguments: Difference.allCases, Exit.allCases)
  func `a screen of which only a leaf is edited leaves its place to whose it is`(
    difference: Difference, exit: Exit
  ) async throws {
    let bench = Bench()
    let leaves = Sheet("page", text: "their page", children: [Sheet("leaf")])
    let first = sheet("editor", difference, "one", children: [leaves])
    first.text = "theirs"
    try await bench.preserve(Sheet("root", children: [first]))

    let leaf = Sheet("leaf")
    let second = sheet("editor", difference, "two", children: [Sheet("page", children: [leaf])])
    let beside = Sheet("beside")
    let root = Sheet("root", children: [second, beside])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    leaf.text = "typed"
    switch exit {
    case .renamed: second.restorationIdentifier = "renamed"
    case .moved:
      root.restorationChildren = [beside]
      beside.restorationChildren = [second]
    }
    _ = try await coordinator.preserve(root)

    let theirs = sheet("editor", difference, "one", children: [Sheet("page")])
    let page = Sheet("page", children: [Sheet("leaf")])
    let ours = sheet(exit == .moved ? "editor" : "renamed", difference, "two", children: [page])
    let next = Sheet("root", children: [theirs])
    if exit == .moved {
      next.restorationChildren.append(Sheet("beside", children: [ours]))
    } else {
      next.restorationChildren.append(ours)
    }
    _ = try await bench.launch().restore(into: next)
    #expect(theirs.text == "theirs")
    #expect(theirs["page"]?.text == "their page")
    #expect(page["leaf"]?.text == "typed")
  }

  @Test func `an unedited one that takes the name of what nobody asked for keeps that beside itself`() async throws {
    let bench = Bench()
    let theirs = sheet("editor", .model, "one", children: [])
    theirs.text = "theirs"
    try await bench.preserve(Sheet("root", children: [theirs, Sheet("other", text: "other")]))
    let second = sheet("editor", .model, "two", children: [])
    let root = Sheet("root", children: [second])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    second.restorationIdentifier = "other"
    _ = try await coordinator.preserve(root)
    let next = Sheet("root", children: [sheet("editor", .model, "one", children: []), Sheet("other")])
    _ = try await bench.launch().restore(into: next, retriesLeftOut: true)
    #expect([next["editor"]?.text, next["other"]?.text] == ["theirs", "other"])
  }

  /// What becomes of the child in whose place the other comes.
  enum Former: CaseIterable, Sendable {
    case exchanged, closed, renamed
  }

  @Test(arguments: Difference.allCases, Former.allCases)
  func `an edited child that moves from one to another is saved over nobody's`(
    difference: Difference, former: Former
  ) async throws {
    let bench = Bench()
    func hierarchy(_ value: (left: String, right: String)) -> (root: Sheet, left: Sheet, right: Sheet) {
      let left = sheet("left", difference, value.left, children: [Sheet("mine")])
      let right = sheet("right", difference, value.right, children: [Sheet("child")])
      return (Sheet("root", children: [left, right]), left, right)
    }
    let saved = hierarchy(("one", "one"))
    saved.right["child"]?.text = "their child"
    try await bench.preserve(saved.root)

    let (root, left, right) = hierarchy(("two", "three"))
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    let moving = try #require(left["mine"])
    let child = try #require(right["child"])
    moving.restorationIdentifier = "child"
    left.restorationChildren = former == .exchanged ? [child] : []
    if former == .renamed { child.restorationIdentifier = "renamed" }
    right.restorationChildren = former == .renamed ? [child, moving] : [moving]
    moving.text = "typed"
    _ = try await coordinator.preserve(root)

    let theirs = hierarchy(("one", "one"))
    _ = try await bench.launch().restore(into: theirs.root)
    #expect(theirs.right["child"]?.text == "their child")
    let ours = hierarchy(("two", "three"))
    _ = try await bench.launch().restore(into: ours.root)
    #expect(ours.right["child"]?.text == "typed")
  }
}

/// A screen whose changes nobody notices: every save asks it, parents first.
@MainActor private final class Sheet: CodingController {
  var restorationIdentifier: RestorationIdentifier?
  var restorationClass: RestorationClass?
  var restorationModelIdentifier: ModelIdentifier?
  var restorationChildren: [any RestorableController]
  var text: String

  init(_ identifier: RestorationIdentifier, text: String = "", children: [Sheet] = []) {
    restorationIdentifier = identifier
    self.text = text
    restorationChildren = children
  }

  subscript(_ identifier: RestorationIdentifier) -> Sheet? {
    restorationChildren.lazy.compactMap { $0 as? Sheet }.first { $0.restorationIdentifier == identifier }
  }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decode(forKey: "text")
  }
}
