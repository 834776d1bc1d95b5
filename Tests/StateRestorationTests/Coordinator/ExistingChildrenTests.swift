import StateRestoration
import Testing

/// R2.4: children that exist already are found, however many there are and in whatever order they stand.
@MainActor @Suite struct ExistingChildrenTests {
  /// A delegate that says yes and makes no controllers.
  private final class Plain: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  /// A delegate that asks a plain one first and makes the rest itself.
  private final class Forwarding: RestorationCoordinatorDelegate {
    let inner = Plain()
    var made: [RestorationPath] = []
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
      if let controller = inner.makeController(at: path, coder: coder) { return controller }
      made.append(path)
      return path.last.map { Screen($0) }
    }
  }

  private func children(_ numbers: some Sequence<Int>, text: (Int) -> String = { _ in "" }) -> [Screen] {
    numbers.map { Screen(RestorationIdentifier("child-\($0)"), text: text($0)) }
  }

  private func preserved(_ count: Int, with delegate: any RestorationCoordinatorDelegate) async throws -> Bench {
    let bench = Bench()
    let coordinator = bench.launch(with: delegate)
    _ = try await coordinator.preserve(Screen("root", children: children(0..<count) { "\($0)" }))
    return bench
  }

  @Test(arguments: [3, 30])
  func `children are found in any order, and new ones between them are left alone`(count: Int) async throws {
    let delegate = Plain()
    let bench = try await preserved(count, with: delegate)
    let orders = [Array(0..<count), (0..<count).reversed(), [1_000] + (0..<count), (0..<count).map { $0 ^ 1 }]
    for order in orders {
      let root = Screen("root", children: children(order))
      let report = try await bench.launch(with: delegate).restore(into: root)
      #expect(report.outcome == .restored)
      for number in 0..<count {
        #expect(root[RestorationIdentifier("child-\(number)")]?.text ?? "\(number)" == "\(number)")
      }
      #expect(root["child-1000"]?.text ?? "" == "")
    }
  }

  @Test(arguments: [3, 30])
  func `of two children with one identifier the first gets the state`(count: Int) async throws {
    let delegate = Plain()
    let bench = try await preserved(count, with: delegate)
    let twins = children([1, 1])
    let root = Screen("root", children: children([0]) + twins + children(2..<count))
    _ = try await bench.launch(with: delegate).restore(into: root)
    #expect(twins[0].text == "1")
    #expect(twins[1].text == "")
    #expect(root["child-\(count - 1)"]?.text == "\(count - 1)")
  }

  @Test func `a delegate that hands the question on to one without an answer is asked for every node`() async throws {
    let delegate = Forwarding()
    let bench = try await preserved(4, with: delegate)
    let root = Screen("root")
    _ = try await bench.launch(with: delegate).restore(into: root)
    #expect(delegate.made.count == 4)
    #expect((0..<4).allSatisfy { root[RestorationIdentifier("child-\($0)")]?.text == "\($0)" })
  }
}
