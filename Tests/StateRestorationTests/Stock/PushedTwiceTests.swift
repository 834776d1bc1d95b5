import StateRestoration
import Testing

/// One screen that the user comes to twice: list → A → B → A.
@MainActor @Suite struct PushedTwiceTests {
  /// The screen of one item; its identifier says which push it was.
  final class ItemScreen: RestorableController {
    let title: String
    let restoration: RestorationIdentity
    @Restored("draft") var draft = ""

    init(title: String, identifier: RestorationIdentifier?) {
      self.title = title
      restoration = RestorationIdentity(identifier, class: "item", model: ModelIdentifier(title))
    }
  }

  private func launch(_ bench: Bench) -> (RestorationCoordinator, NavigationController) {
    let coordinator = bench.launch()
    coordinator.registry.register(ItemScreen.self, as: "item") { path, coder in
      coder.modelIdentifier.map { ItemScreen(title: $0.rawValue, identifier: path.last) }
    }
    return (coordinator, NavigationController("stack", root: Screen("list")))
  }

  @Test func `a screen that is on the stack twice comes back twice, each with its state`() async throws {
    let bench = Bench()
    let (first, stack) = launch(bench)
    for title in ["A", "B", "A", "A"] {
      stack.push(ItemScreen(title: title, identifier: stack.identifier(forPushing: "item")))
      (stack.top as? ItemScreen)?.draft = "\(title) at \(stack.stack.count)"
    }
    #expect(try await first.preserve(stack).receipt?.findings == [])
    let (second, again) = launch(bench)
    _ = try await second.restore(into: again)
    #expect(again.stack.compactMap { ($0 as? ItemScreen)?.draft } == ["A at 2", "B at 3", "A at 4", "A at 5"])
    // What was popped makes room.
    again.pop()
    again.pop()
    #expect(again.identifier(forPushing: "item") == "item 3")
    #expect(again.identifier(forPushing: "list") == "list 2" && again.identifier(forPushing: "other") == "other")
  }

  @Test func `who names two pushes alike is told how to name them apart`() async throws {
    let bench = Bench()
    let (coordinator, stack) = launch(bench)
    for title in ["A", "B", "A"] { stack.push(ItemScreen(title: title, identifier: RestorationIdentifier(title))) }
    let finding = try #require(try await coordinator.preserve(stack).receipt?.findings.first)
    #expect("\(finding)".contains("two owners") && "\(finding)".contains("identifier(forPushing:)"))
  }
}
