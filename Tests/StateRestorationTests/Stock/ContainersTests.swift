import StateRestoration
import Testing

@MainActor struct ContainersTests {
  @Test func `a navigation stack ends at the controller before the one that could not be restored`() {
    let navigation = NavigationController("nav", root: LeafController("launch"))
    let (a, b, d) = (LeafController("a"), LeafController("b"), LeafController("d"))
    navigation.installRestoredChildren([child("a", a), child("b", b), child("c", nil), child("d", d)])
    #expect(navigation.stack.map(\.restoration.identifier) == ["a", "b"])
    #expect(navigation.top === b)
  }

  @Test func `behind the missing one a stack goes on with what was put on top without it`() {
    let (a, d, e) = (LeafController("a"), LeafController("d"), LeafController("e"))
    let b = LeafController("b")
    let cases: [(d: RestoredChild.Role, e: RestoredChild.Role, stack: [RestorationIdentifier])] = [
      ("on a", "on d", ["a", "b", "d", "e"]), ("on a", "on a", ["a", "b", "d", "e"]),
      ("on b", "on c", ["a", "b", "d"]),
      ("on c", "on d", ["a", "b"]), ("on c", "on b", ["a", "b", "e"]),
    ]
    for (roleOfD, roleOfE, stack) in cases {
      let navigation = NavigationController("nav", root: LeafController("launch"))
      navigation.installRestoredChildren([
        child("a", a), child("b", b, role: "on a"), child("c", nil, role: "on b"), child("d", d, role: roleOfD),
        child("e", e, role: roleOfE),
      ])
      #expect(navigation.stack.map(\.restoration.identifier) == stack)
    }
  }

  @Test func `a stack takes what was carried over on top of the controller that it stood on, and nowhere else`() {
    let (a, b, c) = (LeafController("a"), LeafController("b"), LeafController("c"))
    func stack(_ children: [RestoredChild]) -> [RestorationIdentifier?] {
      let navigation = NavigationController("nav", root: LeafController("launch"))
      navigation.installRestoredChildren(children)
      return navigation.stack.map(\.restoration.identifier)
    }
    let onA = child("c", c, role: "on a", carriedOver: true)
    let onC = child("b", b, role: "on c", carriedOver: true)
    #expect(stack([child("a", a), child("b", b), onA]) == ["a", "b"])
    #expect(stack([child("a", a), onC, onA]) == ["a", "c", "b"])
    #expect(stack([child("a", a), child("d", nil), onA]) == ["a"])
    #expect(stack([child("a", a), onC]) == ["a"])
    #expect(stack([child("a", a), child("c", nil, role: "on a", carriedOver: true), onC]) == ["a"])
    #expect(stack([child("b", b, carriedOver: true), child("c", c, carriedOver: true)]) == ["b", "c"])
    #expect(stack([child("a", nil), child("b", b, carriedOver: true)]) == ["launch"])
  }

  @Test func `where there is room for one the last restored is taken, and what was carried over if it is the only one`()
  {
    let (a, b, c) = (LeafController("a"), LeafController("b"), LeafController("c"))
    #expect([child("a", a), child("b", b), child("c", nil)].newest === b)
    #expect([child("a", a), child("b", nil), child("c", c, carriedOver: true)].newest === a)
    #expect([child("a", nil), child("b", b, carriedOver: true), child("c", c, carriedOver: true)].newest === b)
    #expect([child("a", nil)].newest == nil)
    let split = SplitController("split", primary: a)
    split.installRestoredChildren([
      child("b", b, role: .secondary), child("c", c, role: .secondary, carriedOver: true),
    ])
    #expect(split.primary === a && split.secondary === b)
  }

  @Test func `a stack whose bottom could not be restored stays what it was at launch`() {
    let root = LeafController("launch")
    let navigation = NavigationController("nav", root: root)
    navigation.installRestoredChildren([child("a", nil), child("b", LeafController("b"))])
    #expect(navigation.stack.count == 1 && navigation.top === root)
  }

  @Test func `controllers without an identifier stay at the bottom of a restored stack`() {
    final class Unnamed: RestorableController {
      let restoration = RestorationIdentity(nil)
    }
    let bottom = Unnamed()
    let navigation = NavigationController("nav", root: bottom)
    let (a, b) = (LeafController("a"), LeafController("b"))
    navigation.push(LeafController("launch"))
    navigation.push(Unnamed())
    navigation.installRestoredChildren([child("a", a), child("b", b)])
    #expect(navigation.stack.count == 3)
    #expect(navigation.stack[0] === bottom)
    #expect(navigation.stack[1] === a)
    #expect(navigation.top === b)
  }

  @Test func `pushing and popping keeps the bottom`() {
    let navigation = NavigationController("nav", root: LeafController("a"))
    let b = LeafController("b")
    navigation.push(b)
    navigation.push(LeafController("c"))
    #expect(navigation.pop()?.restoration.identifier == "c")
    navigation.popToRoot()
    #expect(navigation.pop() == nil)
    #expect(navigation.restorationChildren.map(\.restoration.identifier) == ["a"])
  }

  @Test func `pushing the same object twice is a mistake that names both`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        let leaf = LeafController("a")
        let navigation = NavigationController("nav", root: leaf)
        navigation.push(leaf)
      }
    }
  }

  @Test func `the selected tab comes back by identifier, wherever it stands now`() throws {
    let before = TabController(
      "tabs", tabs: [LeafController("a"), LeafController("b"), LeafController("c")])
    before.select(1)
    let after = TabController(
      "tabs", tabs: [LeafController("new"), LeafController("c"), LeafController("b")])
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.selected?.restoration.identifier == "b")
  }

  @Test func `a tab that can't be restored is absent and the selection is what it was at launch`() throws {
    let before = TabController("tabs", tabs: [LeafController("a"), LeafController("b")])
    before.select(1)
    let record = try RoundTrip.encode(before)
    let after = TabController("tabs")
    after.installRestoredChildren([child("a", LeafController("a")), child("b", nil)])
    try RoundTrip.decode(record, into: after)
    #expect(after.tabs.map(\.restoration.identifier) == ["a"])
    #expect(after.selectedIndex == 0)
  }

  @Test func `a selection that can't be restored is kept until its tab comes, or another is selected`() throws {
    let before = TabController("tabs", tabs: [LeafController("a"), LeafController("b")])
    before.select(1)
    let record = try RoundTrip.encode(before)
    func restored() throws -> TabController {
      let tabs = TabController("tabs", tabs: [LeafController("a")])
      try RoundTrip.decode(record, into: tabs)
      return tabs
    }
    let unedited = try restored()
    unedited.setTabs([LeafController("new")] + unedited.tabs)
    #expect(unedited.selected?.restoration.identifier == "a")
    #expect(try RoundTrip.encode(unedited).values == record.values)

    let late = try restored()
    late.setTabs(late.tabs + [LeafController("b")])
    #expect(late.selected?.restoration.identifier == "b")
    late.setTabs([late.tabs[0]])
    #expect(try RoundTrip.encode(late).values != record.values)

    let edited = try restored()
    edited.select(0)
    #expect(try RoundTrip.encode(edited).values != record.values)
    edited.setTabs(edited.tabs + [LeafController("b")])
    #expect(edited.selected?.restoration.identifier == "a")
  }

  @Test func `a tab that exists keeps its place when its state is left out`() {
    let (a, b, c) = (LeafController("a"), LeafController("b"), LeafController("c"))
    let tabs = TabController("tabs", tabs: [a, b, c])
    tabs.installRestoredChildren([child("a", a), child("b", nil), child("gone", nil), child("c", c)])
    #expect(tabs.tabs.map(\.restoration.identifier) == ["a", "b", "c"])
  }

  @Test func `a secret tab stands where the locked one is`() {
    let (a, b, c) = (LeafController("a"), LeafController("b", protection: .complete), LeafController("c"))
    let tabs = TabController("tabs", tabs: [LeafController("new"), a, b, c])
    tabs.installRestoredChildren([child("c", c), child("locked", nil, isLocked: true), child("a", a)])
    #expect(tabs.tabs.map(\.restoration.identifier) == ["c", "b", "a", "new"])
  }

  @Test func `tabs that are new in this version stand after the restored ones`() {
    let (a, b) = (LeafController("a"), LeafController("b"))
    let tabs = TabController("tabs", tabs: [LeafController("new"), a, b])
    tabs.installRestoredChildren([child("b", b), child("a", a)])
    #expect(tabs.tabs.map(\.restoration.identifier) == ["b", "a", "new"])
    #expect(tabs.selected?.restoration.identifier == "new")
  }

  @Test func `columns come back by their role, and the divider as a fraction`() throws {
    let (list, detail) = (LeafController("list"), LeafController("detail"))
    let before = SplitController(
      "split", primary: list, secondary: detail, dividerPosition: 0.4)
    let record = try RoundTrip.encode(before)
    let after = SplitController("split", primary: list, dividerPosition: 0.2)
    after.installRestoredChildren([
      child("detail", detail, role: before.restorationRole(of: detail)),
      child("list", list, role: before.restorationRole(of: list)),
    ])
    try RoundTrip.decode(record, into: after)
    #expect(after.primary === list && after.secondary === detail)
    #expect(after.dividerPosition == 0.4)
  }

  @Test(arguments: [(-1.0, 0.1), (2.0, 0.9), (0.5, 0.5), (.nan, 0.33), (.infinity, 0.9)])
  func `the divider stays within its range`(_ asked: Double, _ got: Double) {
    let split = SplitController("split")
    split.dividerPosition = asked
    #expect(split.dividerPosition == got)
  }
}
