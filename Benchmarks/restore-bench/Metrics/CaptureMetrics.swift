import DataProtection
import Observation
import StateRestoration

/// What a capture of everything costs the main actor, for each way in which a controller can hand over its state.
///
/// Captured values are freed after the clock was read, and so are the bare copies: a save hands it over, and it is freed
/// where the main actor doesn't wait.
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
        copying(leaves)
      })
    guard !isOneWay else { return results }
    results.append(
      try measure("one small value", states.map { SmallValue($0) }) { leaves in
        copying(leaves)
      })
    results.append(try measure("observed, 1 property", states.map { ObservedValue($0) }, least: tracking))
    results.append(try measure("observed, 7 properties", states.map { ObservedProperties($0) }, least: tracking))
    results.append(try measure("keyed", states.map { Keyed($0) }))
    results.append(try measure("marked properties", states.map { Marked($0) }))
    return results
  }

  /// A bare copy of each state into a box.
  @inline(__always)
  private func copying<Leaf: CaptureLeaf & RestorableController & StatefulObject>(_ leaves: [Leaf]) -> Lane {
    var copies: [Box<Leaf.RestorableState>] = []
    return Lane(name: "raw.copy") {
      copies = leaves.map { Box($0.restorableState) }
    } cleanUp: {
      consume(copies)
      copies = []
    }
  }

  /// The observation machinery alone: everything that is read is watched, and nothing is copied.
  private func tracking<Leaf: CaptureLeaf & RestorableController & StatefulObject>(_ leaves: [Leaf]) -> Lane {
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
    var captured: MeasuredCapture?
    let taken = try Measurement(clock: .processor, rounds: rounds, atLeast: 0).run(
      units: count,
      [
        .ours {
          for leaf in leaves { leaf.touch() }
        } cleanUp: {
          captured = nil
        } _: {
          captured = coordinator.measureCapture(of: root)
          guard let captured, captured.capturedCount >= leaves.count else {
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
