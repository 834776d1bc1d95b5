import DataProtection
import Foundation
import StateRestoration

/// Metrics of the whole engine: capturing on the main actor, and restoring a hierarchy.
@MainActor
struct EngineMetrics {
  /// How much is measured.
  var effort: Effort
  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool

  /// Measures capturing and restoring a hierarchy of about a hundred children to a container.
  func run(count: Int, device: ProtectedDevice) async throws -> [Result] {
    guard ["captureAll", "captureOne", "restoreAll", "askAll"].contains(where: wants) else { return [] }
    let delegate = Willing()
    let rounds = effort.rounds(count)
    var results: [Result] = []
    if wants("askAll") { results.append(try await asking(count, device, delegate, rounds)) }
    if wants("captureAll") {
      results += try CaptureMetrics(
        rounds: rounds, count: count, device: device, delegate: delegate, isOneWay: effort.isLinear
      ).run()
    }
    guard wants("captureOne") || wants("restoreAll") else { return results }
    var configuration = RestorationConfiguration(application: "restore-bench.engine.\(count)")
    configuration.archiveByteBudget = max(configuration.archiveByteBudget, count << 10)
    let coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
    let nodes = Typical.nodes(count)
    let tree = BenchTree(nodes)
    _ = try await coordinator.restore(into: tree.root)
    _ = try await coordinator.preserve(tree.root)
    if wants("captureOne") {
      let taken = try Measurement(clock: .processor, rounds: effort.rounds(0) * 10, atLeast: 0).run(
        units: 1,
        [
          .ours(prepare: {
            let leaf = tree.leaves[tree.leaves.count / 2]
            leaf.restorableState.selection &+= 1
            leaf.invalidateRestorableState()
          }) { coordinator.measureCapture(of: tree.root, everything: false) }
        ])
      results.append(result("captureOne", count, "ns", taken))
    }
    if wants("restoreAll") {
      _ = try await coordinator.preserve(tree.root)
      // One coordinator at a time has the session.
      await coordinator.letGo()
      var times: [Double] = []
      var processorTimes: [Double] = []
      var mainActorTimes: [Double] = []
      var savingTimes: [Double] = []
      // Decoding the same states alone: a time that was measured on another machine can be told as a ratio to it.
      let json = effort.isLinear ? nil : try JSONEncoder().encode(nodes.map(\.state))
      var jsonTimes: [Double] = []
      for _ in 0..<rounds {
        let empty = BenchTree(nodes, isEmpty: true)
        let fresh = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
        let begun = Clock.wall.now
        let processorBegun = Clock.process.now
        let report = try await fresh.restore(into: empty.root)
        times.append(Clock.wall.now - begun)
        processorTimes.append(Clock.process.now - processorBegun)
        mainActorTimes.append(report.mainActorDuration / .milliseconds(1))
        let savingBegun = Clock.wall.now
        _ = try await fresh.preserve(empty.root)
        savingTimes.append(Clock.wall.now - savingBegun)
        try verify(empty.matches(tree), "restoring the whole hierarchy")
        await fresh.letGo()
        guard let json else { continue }
        let jsonBegun = Clock.process.now
        consume(try JSONDecoder().decode([Typical.State].self, from: json))
        jsonTimes.append(Clock.process.now - jsonBegun)
      }
      var line = Result(
        metric: "restoreAll", nodes: count, unit: "ns", value: median(of: times),
        baselines: jsonTimes.isEmpty ? [:] : ["json": median(of: jsonTimes)])
      line.details = [
        "CPU time of all threads, ms": median(of: processorTimes) / 1e6,
        "on the main actor, ms": median(of: mainActorTimes),
        "the first save after it, ms": median(of: savingTimes) / 1e6,
      ]
      results.append(line)
    }
    if !wants("restoreAll") { try await coordinator.discard() }
    return results
  }

  /// Asks plain coder controllers for their state, with as many observed ones beside them, which nobody asks.
  private func asking(_ count: Int, _ device: ProtectedDevice, _ delegate: Willing, _ rounds: Int) async throws
    -> Result
  {
    let root = Container("root")
    for (index, node) in Typical.nodes(count).enumerated() {
      if index.isMultiple(of: 100) { root.children.append(Container("container \(index / 100)")) }
      guard let container = root.children.last as? Container else { continue }
      container.children.append(Keyed(node))
      var beside = node
      beside.identifier += " beside"
      container.children.append(ObservedValue(beside))
    }
    var configuration = RestorationConfiguration(application: "restore-bench.asking.\(count)")
    configuration.archiveByteBudget = max(configuration.archiveByteBudget, count << 11)
    let coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
    _ = try await coordinator.preserve(root)
    var (times, processorTimes, longest, turns): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<max(rounds, 3) {
      let begun = Clock.process.now
      let asked = await coordinator.measureAsking { Clock.processor.now }
      processorTimes.append(Clock.process.now - begun)
      // The containers are asked as well: nobody notices their lists.
      try verify(
        asked.foundCount == 0 && asked.askedCount >= count && asked.askedCount < count + count / 50 + 10, "asking")
      times.append(asked.turns.reduce(0, +))
      longest.append(asked.turns.max() ?? 0)
      turns.append(Double(asked.turns.count))
    }
    try await coordinator.close()
    var line = Result(metric: "askAll", nodes: count, unit: "ns", value: median(of: times), baselines: [:])
    line.details = [
      Page.askingTurn: median(of: longest) / 1e6, "turns": median(of: turns),
      "CPU time of all threads, ms": median(of: processorTimes) / 1e6,
    ]
    return line
  }

  private func result(_ metric: String, _ count: Int, _ unit: String, _ taken: [String: Taken]) -> Result {
    var baselines = taken.mapValues(\.nanoseconds)
    let ours = baselines.removeValue(forKey: Lane.ours) ?? .nan
    return Result(
      metric: metric, nodes: count, unit: unit, value: ours, baselines: baselines,
      allocations: taken[Lane.ours]?.allocations)
  }
}

/// A delegate that says yes.
final class Willing: RestorationCoordinatorDelegate {
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
}

/// A controller with a typical state.
@MainActor
final class Leaf: RestorableController, StatefulObject {
  let restoration: RestorationIdentity
  var restorableState: Typical.State

  init(_ identifier: String, _ state: Typical.State, protection: ProtectionClass? = nil) {
    restoration = RestorationIdentity(identifier, protection: protection)
    restorableState = state
  }
}

/// A controller of controllers that exist already.
@MainActor
final class Container: RestorationContainer {
  let restoration: RestorationIdentity
  var children: [any RestorableController] = []
  var restorationChildren: [any RestorableController] { children }

  init(_ identifier: String) {
    restoration = RestorationIdentity(identifier)
  }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) {}
}

/// A hierarchy of typical states.
@MainActor
struct BenchTree {
  let root = Container("root")
  var leaves: [Leaf] = []

  /// Makes a controller for each node, a hundred to a container.
  ///
  /// - Parameters:
  ///   - isEmpty: Whether all have the same state, before they are restored.
  ///   - secret: The class of every other leaf; nil for that of all.
  init(_ nodes: [Node<Typical.State>], isEmpty: Bool = false, secret: ProtectionClass? = nil) {
    var container = root
    for (index, node) in nodes.enumerated() {
      if index.isMultiple(of: 100) {
        container = Container("container \(index / 100)")
        root.children.append(container)
      }
      let leaf = Leaf(
        node.identifier, isEmpty ? nodes[0].state : node.state, protection: index.isMultiple(of: 2) ? nil : secret)
      container.children.append(leaf)
      leaves.append(leaf)
    }
  }

  /// Takes the leaves out that have a class of their own.
  func removeSecrets() {
    for case let container as Container in root.children {
      container.children.removeAll { $0.restoration.protection != nil }
    }
  }

  func matches(_ other: BenchTree) -> Bool {
    zip(leaves, other.leaves).allSatisfy { $0.restorableState == $1.restorableState }
  }
}
