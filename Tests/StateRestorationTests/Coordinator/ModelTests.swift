import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Random hierarchies and operations against a model that imports nothing of the engine.
@MainActor @Suite struct ModelTests {
  /// What a user does, or what happens to the program.
  enum Step: Equatable, CustomStringConvertible {
    case push(parent: Int, name: Int)
    case pop(node: Int)
    case edit(node: Int, value: Int)
    case rename(node: Int, name: Int)
    case move(node: Int, parent: Int)
    case reverse(node: Int)
    case save
    case failingSave
    case compact
    case lock
    case unlock
    case kill(hiding: Int?)
    case restoreRunning

    var description: String {
      switch self {
      case .push(let parent, let name): ".push(parent: \(parent), name: \(name))"
      case .pop(let node): ".pop(node: \(node))"
      case .edit(let node, let value): ".edit(node: \(node), value: \(value))"
      case .rename(let node, let name): ".rename(node: \(node), name: \(name))"
      case .move(let node, let parent): ".move(node: \(node), parent: \(parent))"
      case .reverse(let node): ".reverse(node: \(node))"
      case .save: ".save"
      case .failingSave: ".failingSave"
      case .compact: ".compact"
      case .lock: ".lock"
      case .unlock: ".unlock"
      case .kill(let hiding): ".kill(hiding: \(hiding.map(String.init) ?? "nil"))"
      case .restoreRunning: ".restoreRunning"
      }
    }
  }

  /// The oracle: a tree of names and numbers, live and saved, without paths, deltas or generations.
  struct Model {
    final class Node {
      var name: Int
      var value: Int
      var children: [Node]
      /// Preserved, and not in this run's hierarchy.
      var isHidden = false

      init(name: Int, value: Int, children: [Node] = []) {
        self.name = name
        self.value = value
        self.children = children
      }

      func copy() -> Node {
        let node = Node(name: name, value: value, children: children.map { $0.copy() })
        node.isHidden = isHidden
        return node
      }

      /// Live nodes in preorder.
      var live: [Node] { isHidden ? [] : [self] + children.flatMap(\.live) }
    }

    var root = Node(name: 0, value: 0)
    var saved: Node?

    func contains(_ node: Node, _ other: Node) -> Bool {
      node === other || node.children.contains { contains($0, other) }
    }

    func parent(of node: Node) -> Node? {
      func find(_ top: Node) -> Node? {
        if top.children.contains(where: { $0 === node }) { return top }
        for child in top.children { if let found = find(child) { return found } }
        return nil
      }
      return find(root)
    }
  }

  /// Runs steps on the engine and on the model, and says where they differ.
  @MainActor final class Runner {
    let bench = Bench()
    var model = Model()
    var coordinator: RestorationCoordinator
    var root = Screen("0")
    var isLocked = false

    init() {
      coordinator = bench.launch()
      bench.delegate.make = { path, _ in Screen(path.last) }
    }

    func run(_ steps: [Step]) async -> String? {
      for (number, step) in steps.enumerated() {
        do {
          if let difference = try await run(step) { return "step \(number) \(step): \(difference)" }
        } catch {
          return "step \(number) \(step) threw \(error)"
        }
      }
      return nil
    }

    /// The live screens in the model's order.
    private func screens() -> [Screen] {
      func walk(_ screen: Screen) -> [Screen] {
        [screen] + screen.restorationChildren.compactMap { $0 as? Screen }.flatMap(walk)
      }
      return walk(root)
    }

    private func pick(_ number: Int) -> (Model.Node, Screen)? {
      let nodes = model.root.live
      let screens = screens()
      guard nodes.count == screens.count, !nodes.isEmpty else { return nil }
      return (nodes[number % nodes.count], screens[number % nodes.count])
    }

    private func run(_ step: Step) async throws -> String? {
      switch step {
      case .push(let parent, let name):
        guard let (node, screen) = pick(parent), !node.children.contains(where: { $0.name == name }) else { return nil }
        let place = node.children.firstIndex { $0.isHidden } ?? node.children.count
        node.children.insert(Model.Node(name: name, value: 0), at: place)
        screen.restorationChildren.append(Screen(RestorationIdentifier("\(name)"), text: "0"))
      case .pop(let number):
        guard let (node, screen) = pick(number), let parent = model.parent(of: node) else { return nil }
        parent.children.removeAll { $0 === node }
        for above in screens() { above.restorationChildren.removeAll { $0 === screen } }
      case .edit(let number, let value):
        guard let (node, screen) = pick(number) else { return nil }
        node.value = value
        screen.text = "\(value)"
      case .rename(let number, let name):
        guard let (node, screen) = pick(number), let parent = model.parent(of: node),
          !parent.children.contains(where: { $0.name == name })
        else { return nil }
        node.name = name
        screen.restorationIdentifier = RestorationIdentifier("\(name)")
      case .move(let number, let target):
        guard let (node, screen) = pick(number), let (parent, parentScreen) = pick(target),
          let old = model.parent(of: node), !model.contains(node, parent),
          !parent.children.contains(where: { $0.name == node.name })
        else { return nil }
        old.children.removeAll { $0 === node }
        let place = parent.children.firstIndex { $0.isHidden } ?? parent.children.count
        parent.children.insert(node, at: place)
        for above in screens() { above.restorationChildren.removeAll { $0 === screen } }
        parentScreen.restorationChildren.append(screen)
      case .reverse(let number):
        guard let (node, screen) = pick(number) else { return nil }
        node.children = node.children.filter { !$0.isHidden }.reversed() + node.children.filter(\.isHidden)
        screen.restorationChildren.reverse()
      case .save:
        let outcome = try await coordinator.preserve(root)
        if case .declined = outcome { return "declined" }
        if case .deferred = outcome { return "deferred" }
        model.saved = model.root.copy()
      case .failingSave:
        guard !isLocked else { return nil }
        bench.store.state.withLock { $0.failures = ["append": .io, "publish": .io] }
        do { if case .unchanged = try await coordinator.preserve(root) { model.saved = model.root.copy() } } catch {}
        bench.store.state.withLock { $0.failures = [:] }
      case .compact: bench.store.state.withLock { $0.isCompactionDue = true }
      case .lock:
        isLocked = true
        bench.store.lock(true)
      case .unlock:
        isLocked = false
        bench.store.lock(false)
        await coordinator.protectedDataDidBecomeAvailable()
        // What was pending becomes a generation; changes made since are saved with it.
        if bench.delegate.outcomes.last?.receipt != nil { model.saved = model.root.copy() }
        bench.delegate.outcomes = []
      case .kill(let hiding): return try await kill(hiding: hiding)
      case .restoreRunning:
        guard !isLocked, model.saved != nil else { return nil }
        _ = try await coordinator.preserve(root)
        model.saved = model.root.copy()
        bench.delegate.make = { [self] path, _ in screen(at: path) == nil ? Screen(path.last) : nil }
        _ = try await coordinator.restore(into: root)
        bench.delegate.make = { path, _ in Screen(path.last) }
        unhide(model.root)
        return compare()
      }
      return nil
    }

    private func screen(at path: RestorationPath) -> Screen? {
      path.components.dropFirst().reduce(root) { $0?[$1] }
    }

    private func unhide(_ node: Model.Node) {
      node.isHidden = false
      node.children.forEach(unhide)
    }

    private func kill(hiding: Int?) async throws -> String? {
      if isLocked {
        isLocked = false
        bench.store.lock(false)
      }
      root = Screen("0")
      coordinator = bench.launch()
      model.root = model.saved?.copy() ?? Model.Node(name: 0, value: 0)
      unhide(model.root)
      let hidden = hiding.map { "\($0)" }
      bench.delegate.make = { path, _ in path.last?.rawValue == hidden ? nil : Screen(path.last) }
      let report = try await coordinator.restore(into: root)
      if model.saved == nil { return report.outcome == .nothingPreserved ? nil : "\(report.outcome)" }
      guard report.outcome == .restored else { return "\(report)" }
      if let hiding { hide(hiding, model.root) }
      bench.delegate.make = { path, _ in Screen(path.last) }
      return compare()
    }

    private func hide(_ name: Int, _ node: Model.Node) {
      for child in node.children {
        if child.name == name { child.isHidden = true } else { hide(name, child) }
      }
      node.children = node.children.filter { !$0.isHidden } + node.children.filter(\.isHidden)
    }

    private func compare() -> String? {
      func model(_ node: Model.Node) -> String {
        let children = node.children.filter { !$0.isHidden }
        return "\(node.name)=\(node.value)"
          + (children.isEmpty ? "" : "(\(children.map(model).joined(separator: " ")))")
      }
      func live(_ screen: Screen) -> String {
        let children = screen.restorationChildren.compactMap { $0 as? Screen }
        let value = screen.text.isEmpty ? "0" : screen.text
        return "\(screen.restorationIdentifier?.rawValue ?? "-")=\(value)"
          + (children.isEmpty ? "" : "(\(children.map(live).joined(separator: " ")))")
      }
      let expected = model(self.model.root)
      let found = live(root)
      return expected == found ? nil : "expected \(expected), found \(found)"
    }
  }

  static func script(seed: UInt64, length: Int) -> [Step] {
    var random = SplitMix(state: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    return (0..<length).map { _ in
      switch below(40) {
      case 0..<9: .push(parent: below(100), name: 1 + below(9))
      case 9..<12: .pop(node: 1 + below(100))
      case 12..<20: .edit(node: below(100), value: 1 + below(1000))
      case 20..<23: .rename(node: below(100), name: 1 + below(9))
      case 23..<26: .move(node: below(100), parent: below(100))
      case 26: .reverse(node: below(100))
      case 27..<32: .save
      case 32: .failingSave
      case 33: .compact
      case 34: .lock
      case 35: .unlock
      case 36..<39: .kill(hiding: below(2) == 0 ? nil : 1 + below(9))
      default: .restoreRunning
      }
    }
  }

  /// Takes steps out for as long as what is left still fails.
  static func shrink(_ steps: [Step]) async -> [Step] {
    var steps = steps
    var chunk = steps.count / 2
    while chunk > 0 {
      var start = 0
      while start < steps.count {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + chunk, steps.count))
        if await Runner().run(shorter) != nil { steps = shorter } else { start += chunk }
      }
      chunk /= 2
    }
    return steps
  }

  @Test(arguments: 1...40)
  func `random operations agree with a simple model`(number: Int) async {
    let seed = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
    let steps = Self.script(seed: seed, length: 120)
    guard await Runner().run(steps) != nil else { return }
    let short = await Self.shrink(steps)
    let difference = await Runner().run(short) ?? "gone"
    Issue.record("seed \(seed): \(difference)\nscript: [\(short.map(\.description).joined(separator: ", "))]")
  }
}

/// A small deterministic generator.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
