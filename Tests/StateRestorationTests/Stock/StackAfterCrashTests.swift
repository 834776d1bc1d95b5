import StateRestoration
import Testing

/// A stack on which one screen was left out after a crash, while the user goes on without it.
@MainActor @Suite struct StackAfterCrashTests {
  private func screens() -> (stack: NavigationController, list: Screen) {
    let list = Screen("list")
    return (NavigationController("stack", root: list), list)
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `what is pushed while locked stays on the list when the screen above that is left out at the unlock`(
    hasEndedSince: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    bench.delegate.make = { path, _ in path.components.last == "note" ? Screen("note") : nil }
    let saved = screens()
    saved.list.text = "list"
    saved.stack.push(Screen("note", text: "note"))
    try await bench.preserve(saved.stack)
    try await bench.die(at: ["stack", "note"])
    if hasEndedSince {
      // It leaves the note out, durably, and ends before it has saved anything itself.
      let next = screens()
      #expect(try await bench.launch().restore(into: next.stack).leftOut == [["stack", "note"]])
      try await bench.kill()
    }
    try await bench.lock()
    let coordinator = bench.launch()
    let (stack, list) = screens()
    _ = try await coordinator.restore(into: stack)
    for _ in 0..<5 { await Task.yield() }
    let draft = Screen("draft")
    stack.push(draft)
    for _ in 0..<5 { await Task.yield() }
    draft.text = "typed"
    #expect(try await coordinator.preserve(stack).receipt?.kind == .pendingChange)
    try await bench.unlock(coordinator)
    #expect(stack.stack.map(\.restoration.identifier) == ["list", "draft"])
    #expect(stack.stack.first === list)
    #expect(list.text == "list")
    #expect(draft.text == "typed")
    _ = try await coordinator.preserve(stack)

    bench.delegate.make = { path, _ in path.components.last == "draft" ? Screen("draft") : nil }
    let last = screens()
    _ = try await bench.launch().restore(into: last.stack)
    #expect(last.stack.stack.map(\.restoration.identifier) == ["list", "draft"])
    #expect(last.list.text == "list")
  }
}
