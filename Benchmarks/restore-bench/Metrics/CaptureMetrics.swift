import DataProtection
import Observation
import StateRestoration

/// What a capture of everything costs the main actor, for each way in which a controller can hand over its state.
@MainActor
struct CaptureMetrics {
  /// How many rounds.
  var rounds: Int
  /// How many controllers.
  var count: Int
  /// The device of the coordinators, which save nothing.
  var device: ProtectedDevice
  /// A delegate that says yes.
  var delegate: any RestorationCoordinatorDelegate

  /// Whether one value is the only way that is measured.
  var isOneWay = false

  /// Measures every way, each beside the least that it can cost.
  func run() throws -> [Result] {
    let states = Typical.nodes(count)
    var results: [Result] = []
    results.append(
      try measure("one value", states.map { OneValue($0) }) { leaves in
        Lane(name: "raw.copy") { consume(leaves.map { Box($0.restorableState) }) }
      })
    guard !isOneWay else { return results }
    results.append(
      try measure("one small value", states.map { SmallValue($0) }) { leaves in
        Lane(name: "raw.copy") { consume(leaves.map { Box($0.restorableState) }) }
      })
    results.append(try measure("observed, 1 property", states.map { ObservedValue($0) }, least: tracking))
    results.append(try measure("observed, 7 properties", states.map { ObservedProperties($0) }, least: tracking))
    results.append(try measure("keyed", states.map { Keyed($0) }))
    results.append(try measure("marked properties", states.map { Marked($0) }))
    return results
  }

  /// The observation machinery alone: everything that is read is watched, and nothing is copied.
  private func tracking<Leaf: CaptureLeaf & StatefulController>(_ leaves: [Leaf]) -> Lane {
    Lane(name: "tracking", prepare: { for leaf in leaves { leaf.touch() } }) {
      for leaf in leaves {
        withObservationTracking {
          consume(leaf.restorableState)
        } onChange: {
        }
      }
    }
  }

  private func measure<Leaf: CaptureLeaf>(
    _ way: String, _ leaves: [Leaf], least: (([Leaf]) -> Lane)? = nil
  ) throws -> Result {
    let root = Container("root")
    var container = root
    for (index, leaf) in leaves.enumerated() {
      if index.isMultiple(of: 100) {
        container = Container("container \(index / 100)")
        root.children.append(container)
      }
      container.children.append(leaf)
    }
    let coordinator = try RestorationCoordinator(
      device: device, delegate: delegate,
      configuration: RestorationConfiguration(application: "restore-bench.capture.\(way)"))
    coordinator.measureCapture(of: root)
    // The other side works on controllers of its own, so that no observation of ours makes its changes dearer.
    let others = Typical.nodes(count).map { Leaf($0) }
    let taken = try Measurement(clock: .processor, rounds: rounds, atLeast: 0).run(
      units: count,
      [
        .ours(prepare: {
          for leaf in leaves { leaf.touch() }
        }) {
          guard coordinator.measureCapture(of: root) >= leaves.count else {
            throw WrongValue(description: "a capture that leaves controllers out")
          }
        }
      ] + (least.map { [$0(others)] } ?? []))
    var baselines = taken.mapValues(\.nanoseconds)
    let ours = baselines.removeValue(forKey: Lane.ours) ?? .nan
    return Result(
      metric: "captureAll", nodes: count, workload: way, unit: "ns/node", value: ours, baselines: baselines,
      allocations: taken[Lane.ours]?.allocations)
  }
}

/// A value in a box of its own: the least that a capture can do.
private final class Box<Value> {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// A controller that preserves its state in one of the ways.
@MainActor
private protocol CaptureLeaf: RestorableController {
  init(_ node: Node<Typical.State>)
  /// Changes the state, so that the controller is dirty.
  func touch()
}

@MainActor
private final class OneValue: StatefulController, CaptureLeaf {
  let restorationIdentifier: RestorationIdentifier?
  var restorableState: Typical.State

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    restorableState = node.state
  }

  func touch() { restorableState.selection &+= 1 }
}

/// A few numbers.
private struct SmallState: Codable, Sendable {
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var isEditing: Bool
}

@MainActor
private final class SmallValue: StatefulController, CaptureLeaf {
  let restorationIdentifier: RestorationIdentifier?
  var restorableState: SmallState

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    restorableState = SmallState(
      selection: node.state.selection, scrollX: node.state.scrollX, scrollY: node.state.scrollY,
      isEditing: node.state.isEditing)
  }

  func touch() { restorableState.selection &+= 1 }
}

@MainActor @Observable
private final class ObservedValue: StatefulController, CaptureLeaf {
  @ObservationIgnored let restorationIdentifier: RestorationIdentifier?
  var restorableState: Typical.State

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    restorableState = node.state
  }

  func touch() { restorableState.selection &+= 1 }
}

/// Seven values, each a property of its own.
private struct SevenValues: Codable, Sendable {
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var title: String
  var isEditing: Bool
  var expanded: [Int]
  var recent: [String]
}

@MainActor @Observable
private final class ObservedProperties: StatefulController, CaptureLeaf {
  @ObservationIgnored let restorationIdentifier: RestorationIdentifier?
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var title: String
  var isEditing: Bool
  var expanded: [Int]
  var recent: [String]

  var restorableState: SevenValues {
    get {
      SevenValues(
        selection: selection, scrollX: scrollX, scrollY: scrollY, title: title, isEditing: isEditing,
        expanded: expanded, recent: recent)
    }
    set { selection = newValue.selection }
  }

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    selection = node.state.selection
    scrollX = node.state.scrollX
    scrollY = node.state.scrollY
    title = node.state.title
    isEditing = node.state.isEditing
    expanded = node.state.expanded
    recent = node.state.recent
  }

  func touch() { selection &+= 1 }
}

@MainActor
private final class Keyed: CodingController, CaptureLeaf {
  let restorationIdentifier: RestorationIdentifier?
  private var state: Typical.State

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    state = node.state
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(state.selection, forKey: "selection")
    coder.encode(state.scrollX, forKey: "scrollX")
    coder.encode(state.scrollY, forKey: "scrollY")
    coder.encode(state.title, forKey: "title")
    coder.encode(state.isEditing, forKey: "isEditing")
    coder.encode(state.expanded, forKey: "expanded")
    coder.encode(state.recent, forKey: "recent")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}

  func touch() { state.selection &+= 1 }
}

@MainActor
private final class Marked: RestorableController, CaptureLeaf {
  let restorationIdentifier: RestorationIdentifier?
  @Restored("selection") var selection = 0
  @Restored("scrollX") var scrollX = 0.0
  @Restored("scrollY") var scrollY = 0.0
  @Restored("title") var title = ""
  @Restored("isEditing") var isEditing = false
  @Restored("expanded") var expanded: [Int] = []
  @Restored("recent") var recent: [String] = []

  init(_ node: Node<Typical.State>) {
    restorationIdentifier = RestorationIdentifier(node.identifier)
    selection = node.state.selection
    scrollX = node.state.scrollX
    scrollY = node.state.scrollY
    title = node.state.title
    isEditing = node.state.isEditing
    expanded = node.state.expanded
    recent = node.state.recent
  }

  func touch() { selection &+= 1 }
}
