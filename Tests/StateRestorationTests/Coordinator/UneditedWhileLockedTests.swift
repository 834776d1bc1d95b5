import StateRestoration
import Testing

/// A role, and the place of an object that is referred to, are no edit of an object that has not read its state.
@MainActor @Suite struct UneditedWhileLockedTests {
  private let bench = Bench()

  @Test(arguments: StackChange.allCases, [false, true])
  func `what happens around a screen on a stack is no edit of it`(change: StackChange, comesLater: Bool) async throws {
    func hierarchy() -> (Screen, NavigationController, Screen) {
      let nav = NavigationController("nav", root: Screen("list"))
      return (Screen("window", children: [nav]), nav, Screen("editor"))
    }
    do {
      let (root, nav, editor) = hierarchy()
      editor.text = "stored"
      nav.push(editor)
      try await bench.preserve(root)
    }
    try await bench.lock()
    let (root, nav, editor) = hierarchy()
    if !comesLater { nav.push(editor) }
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    if comesLater {
      nav.push(editor)
      _ = try await coordinator.preserve(root)
    }
    change.apply(to: nav)
    root.text = "edit"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(editor.text == "stored")
    _ = try await coordinator.preserve(root)
    let (lastRoot, lastNav, last) = hierarchy()
    lastNav.push(last)
    // A stack ends where a screen of it can't be made.
    _ = try await bench.launchMakingPanels().restore(into: lastRoot)
    #expect(last.text == "stored")
  }

  /// A hierarchy with an object that an editor refers to.
  private func hierarchy(_ editor: Panel?) -> (root: Screen, friend: Screen, group: Screen) {
    let (friend, group) = (Screen("target"), Screen("group"))
    editor?.friend = friend
    let root = Screen("root", children: [friend, group])
    if let editor { root.restorationChildren.insert(editor, at: 0) }
    return (root, friend, group)
  }

  /// Stores an editor that refers to nobody, and locks the device.
  private func lock() async throws {
    let (root, _, _) = hierarchy(nil)
    root.restorationChildren.insert(Panel("editor", value: 5), at: 0)
    try await bench.preserve(root)
    try await bench.lock()
  }

  @Test(arguments: [false, true])
  func `a move of an object is no edit of one that refers to it, nor is a new name`(isRenamed: Bool) async throws {
    try await lock()
    let editor = Panel("editor")
    let (root, friend, group) = hierarchy(editor)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    if isRenamed {
      friend.restoration.identifier = "renamed"
    } else {
      root.restorationChildren = [editor, group]
      group.restorationChildren = [friend]
    }
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(editor.value == 5)
  }

  @Test func `a move is no edit of an object that has come later, either`() async throws {
    try await lock()
    let (root, friend, group) = hierarchy(nil)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    let editor = Panel("editor")
    editor.friend = friend
    root.restorationChildren.append(editor)
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [group, editor]
    group.restorationChildren = [friend]
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(editor.value == 5)
  }

  @Test func `a move is no edit of an object whose state is of a newer version`() async throws {
    do {
      let (root, _, _) = hierarchy(nil)
      root.restorationChildren.insert(Panel.made("editor", value: 5, isNewer: true), at: 0)
      _ = try await bench.launchMakingPanels(isNewer: true).preserve(root)
    }
    do {
      let editor = Panel.made("editor")
      let (root, friend, group) = hierarchy(editor)
      let coordinator = bench.launch { $0.register(Panel.self, as: "panel") }
      _ = try await coordinator.restore(into: root)
      root.restorationChildren = [editor, group]
      group.restorationChildren = [friend]
      _ = try await coordinator.preserve(root)
    }
    let last = Panel.made("editor", isNewer: true)
    let root = Screen("root", children: [last, Screen("group")])
    let report = try await bench.launch { $0.register(NewerPanel.self, as: "panel") }.restore(into: root)
    #expect(last.value == 5, "\(report)")
  }
}
