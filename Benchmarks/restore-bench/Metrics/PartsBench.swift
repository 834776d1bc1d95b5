import DataProtection
import Foundation
import RestorationArchive
import StateRestoration

/// An archive of typical nodes in a store, in one part or divided between two classes.
///
/// Divided, each container has one child of the stronger class, with half of the container's nodes below it.
final class PartsBench {
  private let device: ProtectedDevice
  private let slot: ArchiveSlot
  private let store: ArchiveStore
  private let classes: [(part: RestorationArchive.Part, place: PartPlace, protection: ProtectionClass)]
  private var nodes: [Node<Typical.State>]
  private var ids: [NodeID] = []
  private var paths: [RestorationPath] = []
  private var writer: RestorationArchive.PartedWriter
  private var newest: Generation?
  private var turn = 0

  /// Makes the tree, about a hundred children to a container, and its first save.
  init(count: Int, isDivided: Bool, device: ProtectedDevice) throws {
    self.device = device
    slot = ArchiveSlot(application: "restore-bench", scene: "\(count) \(isDivided)")
    store = try device.archives(for: slot)
    store.keepState()
    let weaker = (RestorationArchive.Part.first, PartPlace.root, ProtectionClass.completeUntilFirstUserAuthentication)
    let stronger = (RestorationArchive.Part.allCases[1], PartPlace.allCases[1], ProtectionClass.complete)
    classes = isDivided ? [weaker, stronger] : [weaker]
    nodes = Typical.nodes(count)
    writer = RestorationArchive.PartedWriter(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 0)))
    var container: (id: NodeID, path: RestorationPath)?
    var secret: (id: NodeID, path: RestorationPath)?
    for (index, node) in nodes.enumerated() {
      let identifier = RestorationIdentifier(node.identifier)
      let (isContainer, isSecret) = (index.isMultiple(of: 100), index % 100 == 1)
      let parent = isContainer ? nil : isSecret || index.isMultiple(of: 2) ? container : secret
      let id = try writer.insert(
        identifier, parent: parent?.id, part: isDivided && isSecret ? RestorationArchive.Part.allCases[1] : nil)
      let path = (parent?.path ?? []).appending(identifier)
      if isContainer { container = (id, path) }
      if isSecret { secret = (id, path) }
      ids.append(id)
      paths.append(path)
      try set(index)
    }
    try publish()
  }

  /// Deletes its archives.
  func discard() { try? store.deleteAll() }

  private func set(_ index: Int) throws {
    try writer.setRecord(of: ids[index], entries: nodes[index].entries, attributes: nodes[index].attributes)
  }

  private func publish() throws {
    let parts = try classes.map {
      PartToPublish($0.place, .new(try writer.makeArchive(of: $0.part), as: $0.protection))
    }
    newest = try store.publish(parts).generation
  }

  /// Encodes every node and publishes all parts.
  func preserveAll() throws {
    turn += 1
    for index in nodes.indices {
      nodes[index].state.selection = turn &* 31 &+ index
      try set(index)
    }
    try publish()
  }

  /// Encodes a changed node and appends a delta to the part that it is in; a whole generation when that is due.
  func preserveOne() throws {
    turn += 1
    let index = turn &* 7919 % nodes.count
    nodes[index].state.selection = turn
    try set(index)
    for (part, place, protection) in classes {
      guard let delta = try writer.makeDelta(of: part) else { continue }
      guard let newest, try store.append(delta, to: newest, at: place, as: protection) == nil else { continue }
      return try publish()
    }
  }

  /// Opens the parts that a node's path goes through, finds it, decodes it and compares it.
  ///
  /// - Parameter isStronger: Whether the node is of the stronger class, where there are two.
  func restoreOneCold(isStronger: Bool) throws {
    let store = try device.archives(for: slot)
    store.keepState()
    var finder = try RestorationArchive.NodeFinder(try store.lookAtNewestParts())
    turn += 1
    let index = turn &* 7907 % (nodes.count / 2) * 2 + (isStronger ? 1 : 0)
    let state = try Node<Typical.State>.state(in: try finder.record(at: paths[index]), at: paths[index])
    try verify(state.selection == nodes[index].state.selection, "the archive of several parts")
  }
}

/// Metrics of a state of two classes of protection, beside the same nodes in one class.
struct PartsMetrics {
  /// How much is measured.
  var effort: Effort
  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool

  private static let workload = "two classes"

  /// Measures everything that was asked for with a number of nodes.
  func run(count: Int, device: ProtectedDevice) throws -> [Result] {
    guard ["preserveOne", "preserveAll", "restoreOneCold"].contains(where: wants) else { return [] }
    let two = try PartsBench(count: count, isDivided: true, device: device)
    defer { two.discard() }
    let one = try PartsBench(count: count, isDivided: false, device: device)
    defer { one.discard() }
    var results: [Result] = []
    func add(
      _ metric: String, _ workload: String = Self.workload, rounds: Int, _ pass: @escaping (PartsBench) throws -> Void
    ) throws {
      guard wants(metric) else { return }
      let taken = try Measurement(clock: .wall, rounds: rounds, atLeast: 0).run(
        units: 1, [.ours { try pass(two) }, Lane(name: "one-class") { try pass(one) }])
      var baselines = taken.mapValues(\.nanoseconds)
      let ours = baselines.removeValue(forKey: Lane.ours) ?? .nan
      results.append(
        Result(
          metric: metric, nodes: count, workload: workload, unit: "ns", value: ours, baselines: baselines,
          bytes: nil))
    }
    try add("preserveOne", rounds: effort.rounds(0) * 15) { try $0.preserveOne() }
    try add("preserveAll", rounds: effort.rounds(count)) { try $0.preserveAll() }
    for (workload, isStronger) in [("weaker of two", false), ("stronger of two", true)] {
      try add("restoreOneCold", workload, rounds: effort.rounds(0) * 15) {
        try $0.restoreOneCold(isStronger: isStronger)
      }
    }
    return results
  }
}
