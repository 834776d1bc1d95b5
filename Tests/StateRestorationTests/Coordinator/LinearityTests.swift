import FoundationEssentials
import HandmadeArchive
import RestorationArchive
import StateRestoration
import Synchronization
import Testing

/// Eight times the objects take about eight times the work, wherever a list was once searched for each of its members.
///
/// Processor time of one thread, the fastest of some passes: linear is eight, quadratic 64. Nothing else can notice a
/// list that is searched where nobody counts.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LinearityTests {
  /// A controller of many, which keeps them in a plain list.
  final class Shelf: CodingObject, RestorationContainer {
    var restoration: RestorationIdentity
    var restorationChildren: [any RestorableController] = []
    var friends: [any RestorableObject] = []
    var next: (any RestorableObject)?

    init(_ identifier: RestorationIdentifier?, _ children: [any RestorableController] = []) {
      restoration = RestorationIdentity(identifier)
      restorationChildren = children
    }

    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) {}

    func encodeRestorableState(with coder: RestorationEncoder) {
      if !friends.isEmpty { coder.encodeReferences(to: friends, forKey: "friends") }
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      if coder.contains("next") { next = try coder.reference(to: Shelf.self, forKey: "next") }
    }
  }

  private func shelves(_ count: Int) -> [Shelf] { (0..<count).map { Shelf(RestorationIdentifier("s\($0)")) } }

  /// A coordinator of a hierarchy, with the bench that owns its delegate.
  private struct Stage {
    let bench: Bench
    let coordinator: RestorationCoordinator
    let root: Shelf

    @MainActor init(_ root: Shelf, _ bench: Bench = Bench()) {
      self.bench = bench
      self.root = root
      coordinator = bench.launch()
    }

    /// Preserves the hierarchy; some objects of it must have been captured.
    func preserve() async throws {
      let receipt = try await coordinator.preserve(root).receipt
      #expect(receipt != nil)
    }
  }

  /// How many times the processor time of 400 a body takes for 3 200, preparations not counted.
  ///
  /// Measured again while it is too much, a few times: what else the machine does makes a linear body look slow now and
  /// then, and a quadratic one never fast.
  private func growth(
    prepare: (Int) async throws -> Stage, _ body: (Stage) async throws -> Void
  ) async throws -> Double {
    var least = Double.infinity
    for _ in 0..<5 where least >= Self.tooMuch {
      let few = try await time(400, prepare: prepare, body)
      let many = try await time(3_200, prepare: prepare, body)
      least = min(least, many / few)
    }
    return least
  }

  /// The growth from which on a body is not linear: between eight and 64.
  private static let tooMuch = 24.0

  /// The least processor time of a body in three passes, in nanoseconds.
  private func time(
    _ count: Int, prepare: (Int) async throws -> Stage, _ body: (Stage) async throws -> Void
  ) async throws -> Double {
    var best = Double.infinity
    for _ in 0..<3 {
      let prepared = try await prepare(count)
      let begun = processorTime()
      try await body(prepared)
      best = min(best, processorTime() - begun)
      withExtendedLifetime(prepared) {}
    }
    return best
  }

  @Test func `many children that move from one long list to another`() async throws {
    let growth = try await growth { count in
      let (left, right) = (Shelf("left", shelves(count)), Shelf("right"))
      let root = Shelf("root", [left, right])
      let stage = Stage(root)
      try await stage.preserve()
      swap(&left.restorationChildren, &right.restorationChildren)
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `many children that leave a long list`() async throws {
    let growth = try await growth { count in
      let list = Shelf("list", shelves(2 * count))
      let root = Shelf("root", [list])
      let stage = Stage(root)
      try await stage.preserve()
      list.restorationChildren.removeFirst(count)
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `many children that all get other names`() async throws {
    let growth = try await growth { count in
      let children = shelves(count)
      let root = Shelf("root", children)
      let stage = Stage(root)
      try await stage.preserve()
      for (index, child) in children.enumerated() {
        child.restoration.identifier = RestorationIdentifier("s\((index + 1) % count)")
      }
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `many children that all show another model, in another order`() async throws {
    let growth = try await growth { count in
      let children = shelves(count)
      for child in children { child.restoration.model = "A" }
      let stage = Stage(Shelf("root", children))
      try await stage.preserve()
      for child in children { child.restoration.model = "B" }
      stage.root.restorationChildren.reverse()
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `many objects of another model that are edited, beside many that leave`() async throws {
    let growth = try await growth { count in
      let bench = Bench()
      let stored = shelves(2 * count)
      for shelf in stored { (shelf.friends, shelf.restoration.model) = ([shelf], "A") }
      _ = try await bench.preserve(Shelf("root", stored))
      let stage = Stage(Shelf("root", shelves(2 * count)), bench)
      for case let shelf as Shelf in stage.root.restorationChildren { shelf.restoration.model = "B" }
      _ = try await stage.coordinator.restore(into: stage.root)
      for case let shelf as Shelf in stage.root.restorationChildren { shelf.friends = [stage.root] }
      stage.root.restorationChildren.removeLast(count)
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `an unlock with very many siblings, one of them edited`() async throws {
    let growth = try await growth { count in
      let bench = Bench()
      try await Stage(Shelf("root", shelves(count)), bench).preserve()
      bench.store.lock(true)
      let root = Shelf("root", shelves(count))
      let stage = Stage(root, bench)
      _ = try await stage.coordinator.restore(into: root)
      root.restorationChildren.append(Shelf("new"))
      _ = try await stage.coordinator.preserve(root)
      bench.store.lock(false)
      return stage
    } _: { stage in
      await stage.coordinator.protectedDataDidBecomeAvailable()
      #expect(stage.bench.delegate.lateReports.first?.outcome == .restored)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `siblings that all have one identifier`() async throws {
    let growth = try await growth { count in
      let siblings = shelves(count)
      for shelf in siblings { shelf.restoration.identifier = "one" }
      return Stage(Shelf("root", siblings))
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `a list of very many objects, and as many children that were not restored`() async throws {
    let growth = try await growth { count in
      Stage(Shelf("root", shelves(count)))
    } _: { stage in
      let existing = stage.root.restorationChildren
      let children = existing.indices.map {
        RestoredChild(path: ["root", RestorationIdentifier("gone\($0)")], controller: nil)
      }
      #expect(children.arranged(with: existing).count == existing.count)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `references to very many objects that nothing else preserves`() async throws {
    let growth = try await growth { count in
      let root = Shelf("root")
      root.friends = shelves(count)
      for case let friend as Shelf in root.friends { friend.restoration.class = "shelf" }
      return Stage(root)
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test(arguments: [false, true]) func `objects that turn up one by one after restoring`(isReversed: Bool) async throws
  {
    let growth = try await growth { count in
      let bench = Bench()
      _ = try await bench.preserve(Shelf("root", shelves(count)))
      let stage = Stage(Shelf("root"), bench)
      _ = try await stage.coordinator.restore(into: stage.root)
      stage.root.restorationChildren = shelves(count)
      return stage
    } _: { stage in
      let children = stage.root.restorationChildren
      for child in isReversed ? children.reversed() : children {
        let path: RestorationPath = ["root", child.restoration.identifier ?? ""]
        guard stage.coordinator.restore(child, at: path)?.isRestored == true else {
          Issue.record("\(path) was not restored")
          return
        }
      }
      #expect(stage.coordinator.lastReport?.restoredCount == stage.root.restorationChildren.count + 1)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test(arguments: [false, true]) func `values of a scope that are set or read one by one`(isRead: Bool) async throws {
    let growth = try await growth { count in
      let bench = Bench()
      if isRead {
        let scope = RestorationScope("scope")
        for number in 0..<count { scope.value("s\(number)", default: "").value = "text" }
        _ = try await bench.preserve(Shelf("root", [scope]))
      } else {
        try await bench.lock()
      }
      let stage = Stage(Shelf("root", [RestorationScope("scope")]), bench)
      _ = try await stage.coordinator.restore(into: stage.root)
      stage.root.friends = shelves(count)
      return stage
    } _: { stage in
      let scope = try #require(stage.root.restorationChildren.first as? RestorationScope)
      for case let shelf as Shelf in stage.root.friends {
        let key = try #require(shelf.restoration.identifier?.rawValue)
        if isRead { #expect(scope.value(key, default: 0).value == 0) } else { try scope.setValue(1, forKey: key) }
      }
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `siblings that change what they are called and what they show`() async throws {
    let growth = try await growth { count in
      let stage = Stage(Shelf("root", shelves(count)))
      for case let shelf as Shelf in stage.root.restorationChildren { shelf.restoration.model = "one" }
      try await stage.preserve()
      for case let shelf as Shelf in stage.root.restorationChildren {
        shelf.restoration.identifier = RestorationIdentifier("new \(shelf.restoration.identifier?.rawValue ?? "")")
        shelf.restoration.model = "other"
      }
      return stage
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `references to siblings`() async throws {
    let growth = try await growth { count in
      var writer = RestorationArchive.Writer(
        context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 0)))
      let top = try writer.insert("root")
      var last: RestorationPath = ["root"]
      for index in 0..<count {
        let node = try writer.insert(RestorationIdentifier("s\(index)"), parent: top)
        try writer.setRecord(
          of: node, entries: [.init(key: "next", value: RestorationPath?.some(last))], attributes: .init())
        last = ["root", RestorationIdentifier("s\(index)")]
      }
      let archive = try writer.makeArchive()
      let bench = Bench()
      bench.store.state.withLock { state in
        state.generations = [.init(number: state.next, base: archive)]
        state.next += 1
      }
      return Stage(Shelf("root", shelves(count)), bench)
    } _: { stage in
      _ = try await stage.coordinator.restore(into: stage.root)
      #expect((stage.root.restorationChildren.last as? Shelf)?.next != nil)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `a stack of very many controllers that is turned around`() async throws {
    let growth = try await growth { count in
      let navigation = NavigationController("stack")
      navigation.setStack(shelves(count))
      let stage = Stage(Shelf("root", [navigation]))
      try await stage.preserve()
      return stage
    } _: { stage in
      let navigation = stage.root.restorationChildren.first as? NavigationController
      navigation?.setStack(navigation?.stack.reversed() ?? [])
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `very many controllers that are pushed, asked for their places and popped one by one`() async throws {
    let growth = try await growth { count in
      Stage(Shelf("root", shelves(count)))
    } _: { stage in
      let navigation = NavigationController("stack")
      let shelves = stage.root.restorationChildren
      for shelf in shelves { navigation.push(shelf) }
      #expect(shelves.count { navigation.restorationRole(of: $0) == nil } == 1)
      for _ in shelves { navigation.pop() }
      #expect(navigation.stack.count == 1)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `a stack of which only the bottom has a name`() async throws {
    let growth = try await growth { count in
      let navigation = NavigationController("stack")
      navigation.setStack([Shelf("bottom")] + (0..<count).map { _ in Shelf(nil) })
      return Stage(Shelf("root", [navigation]))
    } _: { stage in
      try await stage.preserve()
    }
    #expect(growth < Self.tooMuch)
  }

  @Test func `lists of children that all name the same nodes are damage, not work`() async throws {
    let bench = Bench()
    bench.store.state.withLock { state in
      state.generations = [.init(number: state.next, base: HandmadeArchive.overlapping(2_000).bytes())]
      state.next += 1
    }
    let stage = Stage(Shelf("n1"), bench)
    let report = try await stage.coordinator.restore(into: stage.root)
    #expect(report.outcome == .damaged)
  }
}
