extension Lifecycle {
  /// How much time the program has for each phase, read from the injected clock.
  public struct Budgets: Sendable, Hashable {
    /// The phases that have a budget.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// From the launch to the end of its callbacks, restoring included.
      case launching

      /// From `willResignActive` to the moment when the program is inactive.
      case resigningActive

      /// From `didEnterBackground` to the end of preserving and of the snapshot.
      case enteringBackground

      /// From `willTerminate` to the end of the last preserving.
      case terminating
    }

    /// The consequence when a budget runs out.
    public enum Enforcement: Sendable, Hashable {
      /// It is reported to the delegate and the log, and the work goes on: for production.
      case reports

      /// It is reported, and the program ends unannounced: for tests.
      case kills
    }

    /// The time for launching.
    public var launching: Duration

    /// The time for resigning active: what `willResignActive` saves is awaited for so long.
    public var resigningActive: Duration

    /// The time for entering the background.
    public var enteringBackground: Duration

    /// The time for terminating.
    public var terminating: Duration

    /// The time all background tasks share after the program has entered the background.
    public var backgroundTasks: Duration

    /// The consequence when one of them runs out.
    public var enforcement: Enforcement

    /// Five seconds for each phase, as Apple's *iOS App Programming Guide* says; three minutes for background tasks.
    public init(
      launching: Duration = .seconds(5), resigningActive: Duration = .seconds(5),
      enteringBackground: Duration = .seconds(5), terminating: Duration = .seconds(5),
      backgroundTasks: Duration = .seconds(180), enforcement: Enforcement = .reports
    ) {
      self.launching = launching
      self.resigningActive = resigningActive
      self.enteringBackground = enteringBackground
      self.terminating = terminating
      self.backgroundTasks = backgroundTasks
      self.enforcement = enforcement
    }

    /// The time for a phase.
    package subscript(kind: Kind) -> Duration {
      switch kind {
      case .launching: launching
      case .resigningActive: resigningActive
      case .enteringBackground: enteringBackground
      case .terminating: terminating
      }
    }
  }
}
