/// The pure machine: states, legal transitions and their steps, as `Docs/Lifecycle.md` lists them.
///
/// A value without clock, callbacks or side effects. ``Lifecycle`` runs it.
package struct LifecycleMachine: Sendable, Hashable {
  /// The state that is reported now; after a transition the one it ended in.
  package private(set) var state: Lifecycle.State

  /// Whether the program has run in the background since it was preserved on the way there, or without that way.
  private var hasRunInBackground = false

  /// Whether leaving the foreground ends the program.
  package let exitsOnSuspend: Bool

  /// Makes the machine of a program that has not been launched.
  package init(exitsOnSuspend: Bool = false) {
    self.state = .notRunning
    self.exitsOnSuspend = exitsOnSuspend
  }

  /// A machine in any state, for tests of every pair.
  package init(state: Lifecycle.State, exitsOnSuspend: Bool = false) {
    self.state = state
    self.exitsOnSuspend = exitsOnSuspend
  }

  /// The steps of a transition, in order; `nil` when it is illegal.
  package func steps(of transition: LifecycleTransition) -> [LifecycleStep]? {
    if exitsOnSuspend, transition.touches(.background) || transition.touches(.suspended) { return nil }
    return switch (transition.from, transition.to, transition.manner) {
    case (.notRunning, .inactive, .usual):
      [
        .enter(.inactive), .willFinishLaunching, .showSnapshot, .restore, .removeSnapshot,
        .didFinishLaunching,
        .showWindow, .openURL,
      ]
    case (.notRunning, .background, .usual):
      [.enter(.background), .willFinishLaunching, .restore, .didFinishLaunching, .handleBackgroundEvent]
    case (.inactive, .active, .usual):
      [.openHandles, .enter(.active), .didBecomeActive, .startInput]
    case (.active, .inactive, .usual):
      [.stopInput, .willResignActive, .enter(.inactive), .closeHandles]
    case (.inactive, .background, .usual):
      [
        .enter(.background), .didEnterBackground, .preserve, .hideSensitiveContent, .takeSnapshot,
        .hideWindow,
      ]
    case (.inactive, .background, .asleep):
      [
        .didEnterBackground, .preserve, .hideSensitiveContent, .takeSnapshot, .hideWindow, .lockDevice,
        .enter(.background),
      ]
    case (.background, .inactive, .usual):
      [.willEnterForeground, .revealSensitiveContent, .showWindow, .enter(.inactive)]
    case (.background, .suspended, .usual):
      hasRunInBackground
        ? [.preserve, .hideSensitiveContent, .takeSnapshot, .enter(.suspended)] : [.enter(.suspended)]
    case (.suspended, .background, .usual):
      [.enter(.background), .deliverNotifications]
    case (.inactive, .notRunning, .announced), (.background, .notRunning, .announced):
      [.willTerminate, .preserve, .hideSensitiveContent, .takeSnapshot, .enter(.notRunning)]
    case (.active, .notRunning, .unannounced):
      [.stopInput, .enter(.notRunning)]
    case (.inactive, .notRunning, .unannounced), (.background, .notRunning, .unannounced),
      (.suspended, .notRunning, .unannounced):
      [.enter(.notRunning)]
    default:
      nil
    }
  }

  /// Makes a transition from the present state and answers its steps; an illegal one throws and changes nothing.
  package mutating func move(
    to state: Lifecycle.State, manner: LifecycleTransition.Manner = .usual
  ) throws(Lifecycle.RequestError) -> [LifecycleStep] {
    let transition = LifecycleTransition(from: self.state, to: state, manner: manner)
    guard let steps = steps(of: transition) else {
      throw Lifecycle.RequestError.illegal(transition, exitsOnSuspend: exitsOnSuspend)
    }
    switch (transition.from, transition.to) {
    case (.notRunning, .background), (.suspended, .background): hasRunInBackground = true
    case (_, .inactive): hasRunInBackground = false
    default: break
    }
    self.state = state
    return steps
  }

  /// Notes that a background task keeps the program running, after it was preserved.
  mutating func keepRunning() { hasRunInBackground = true }

  /// The transitions that serve a request in the present state; empty when it is legal and changes nothing.
  package func route(for request: LifecycleRequest) throws(Lifecycle.RequestError) -> [LifecycleTransition] {
    let path: [(Lifecycle.State, LifecycleTransition.Manner)]? =
      switch (request, state) {
      case (.launch, .notRunning): [(.inactive, .usual), (.active, .usual)]
      case (.launchInBackground, .notRunning): exitsOnSuspend ? nil : [(.background, .usual)]
      case (.becomeActive, .inactive): [(.active, .usual)]
      case (.resignActive, .active): [(.inactive, .usual)]
      case (.enterBackground, .inactive): leaving(asleep: false)
      case (.enterBackground, .active): [(.inactive, .usual)] + leaving(asleep: false)
      case (.sleep, .inactive): leaving(asleep: true)
      case (.sleep, .active): [(.inactive, .usual)] + leaving(asleep: true)
      case (.sleep, .background), (.sleep, .suspended): []
      case (.suspend, .background): [(.suspended, .usual)]
      case (.wake, .suspended): [(.background, .usual)]
      case (.open, .inactive), (.open, .active): []
      case (.enterForeground, .background), (.open, .background): [(.inactive, .usual), (.active, .usual)]
      case (.enterForeground, .suspended), (.open, .suspended):
        [(.background, .usual), (.inactive, .usual), (.active, .usual)]
      case (.terminate, .inactive), (.terminate, .background): [(.notRunning, .announced)]
      case (.terminate, .active): [(.inactive, .usual), (.notRunning, .announced)]
      case (.terminate, .suspended): [(.notRunning, .unannounced)]
      case (.kill, .inactive), (.kill, .active), (.kill, .background), (.kill, .suspended):
        [(.notRunning, .unannounced)]
      default: nil
      }
    guard let path else { throw Lifecycle.RequestError.illegal(request, in: state, to: request.destination) }
    var from = state
    return path.map { to, manner in
      defer { from = to }
      return LifecycleTransition(from: from, to: to, manner: manner)
    }
  }

  private func leaving(asleep: Bool) -> [(Lifecycle.State, LifecycleTransition.Manner)] {
    exitsOnSuspend ? [(.notRunning, .announced)] : [(.background, asleep ? .asleep : .usual)]
  }
}

extension LifecycleTransition {
  func touches(_ state: Lifecycle.State) -> Bool { from == state || to == state }

  /// The budget that covers the transition, if one does.
  package var budget: Lifecycle.Budgets.Kind? {
    switch (from, to, manner) {
    case (.notRunning, _, _): .launching
    case (.active, .inactive, _): .resigningActive
    case (.inactive, .background, _): .enteringBackground
    case (_, .notRunning, .announced): .terminating
    default: nil
    }
  }
}

extension LifecycleRequest {
  /// The state the request is about, for the error that refuses it.
  var destination: Lifecycle.State {
    switch self {
    case .launch, .becomeActive, .enterForeground, .open: .active
    case .resignActive: .inactive
    case .launchInBackground, .enterBackground, .wake, .sleep: .background
    case .suspend: .suspended
    case .terminate, .kill: .notRunning
    }
  }
}
