internal import RestorationArchive

/// What became of a plan's nodes so far: a few bytes for each, and more only for those with more to tell.
struct NodeOutcomes {
  private enum State: UInt8 {
    case unmet, restored, notRestored
  }

  private var states: [State]
  private var origins: [NodeReport.Origin]
  private var durations: [Duration]
  private var reasons: [Int: NotRestoredReason] = [:]
  private var remarks: [Int: [RestorationRemark]] = [:]

  /// No node was met.
  init(count: Int) {
    states = Array(repeating: .unmet, count: count)
    origins = Array(repeating: .existing, count: count)
    durations = Array(repeating: .zero, count: count)
  }

  /// Whether anything was decided about a node.
  func isMet(_ index: Int) -> Bool { states[index] != .unmet }

  /// Whether a node's object exists and, as far as is known, takes its state.
  func isRestored(_ index: Int) -> Bool { states[index] == .restored }

  /// Why a node did not come back; nil when it did, or was not met.
  func reason(_ index: Int) -> NotRestoredReason? { states[index] == .notRestored ? reasons[index] : nil }

  /// Whether a node waits until its scope is asked for it.
  func isUnasked(_ index: Int) -> Bool { reason(index) == .notAskedFor }

  /// A node got its object.
  mutating func restore(_ index: Int, _ origin: NodeReport.Origin) {
    clear(index)
    states[index] = .restored
    origins[index] = origin
  }

  /// A node got no object.
  mutating func fail(_ index: Int, _ reason: NotRestoredReason) {
    clear(index)
    reject(index, reason)
  }

  /// A node's object did not get its state; what else is known of the node stays.
  mutating func reject(_ index: Int, _ reason: NotRestoredReason) {
    states[index] = .notRestored
    reasons[index] = reason
  }

  /// Forgets what became of a node.
  mutating func clear(_ index: Int) {
    guard states[index] != .unmet else { return }
    states[index] = .unmet
    durations[index] = .zero
    if !reasons.isEmpty { reasons[index] = nil }
    if !remarks.isEmpty { remarks[index] = nil }
  }

  /// Notes something about a node.
  mutating func add(_ remark: RestorationRemark, at index: Int) { remarks[index, default: []].append(remark) }

  /// Counts time of a node's own code.
  mutating func add(_ duration: Duration, at index: Int) { durations[index] += duration }

  /// Whether anything did not come back.
  var hasRejected: Bool { !reasons.isEmpty }

  /// The reports of the nodes of a range that were met, in the plan's order.
  func reports(_ range: Range<Int>, of plan: RestorePlan) -> [NodeReport] {
    var reports: [NodeReport] = []
    reports.reserveCapacity(range.count)
    for index in range {
      if let report = report(index, of: plan) { reports.append(report) }
    }
    return reports
  }

  /// The report of a node; nil when it was not met.
  func report(_ index: Int, of plan: RestorePlan) -> NodeReport? {
    let result: NodeReport.Result
    switch states[index] {
    case .unmet: return nil
    case .restored: result = .restored(origins[index])
    case .notRestored:
      guard let reason = reasons[index] else { return nil }
      result = .notRestored(reason)
    }
    return NodeReport(
      path: plan.paths[index], kind: plan.nodes[index].kind, result: result, restorationClass: plan.tag(of: index),
      byteCount: plan.nodes[index].byteCount, duration: durations[index],
      remarks: remarks.isEmpty ? [] : remarks[index] ?? [])
  }
}
