public import StateRestoration
public import Testing

/// What a run over every kill point came to.
package struct KillPointReport: Sendable, Hashable {
  /// How many points there were: the calls to the file system that one save makes, and the moment after it.
  package internal(set) var killPoints = 0

  /// How many times the old values came back.
  package internal(set) var oldStates = 0

  /// How many times the new values came back.
  package internal(set) var newStates = 0

  /// The failures, each also recorded as an issue.
  package internal(set) var failures: [String] = []
}

/// Checks that a save can be killed at every step, by a signal and by a power cut: the old or the new state comes back,
/// whole, and the new one if it was acknowledged.
///
/// Each step is one call to the file system. The values are compared as ``assertRestores(_:after:sourceLocation:)`` does.
///
/// - Parameters:
///   - subject: How the hierarchy is made.
///   - prepare: Makes the old state, which is preserved without being killed.
///   - change: Makes the new state, whose saving is killed.
///   - sourceLocation: The line of the test at which failures are shown.
/// - Returns: The failures in words; each also fails the test. Empty when all is well.
@discardableResult
@MainActor public func assertRestoresAtEveryKillPoint<Root: RestorableController>(
  _ subject: RestorationSubject<Root>, from prepare: @MainActor (Root) async throws -> Void = { _ in },
  to change: @MainActor (Root) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async -> [String] {
  await killAtEveryPoint(subject, from: prepare, to: change, sourceLocation: sourceLocation).failures
}

/// Makes the run of ``assertRestoresAtEveryKillPoint(_:from:to:sourceLocation:)``, and counts the states that came back.
@MainActor package func killAtEveryPoint<Root: RestorableController>(
  _ subject: RestorationSubject<Root>, from prepare: @MainActor (Root) async throws -> Void = { _ in },
  to change: @MainActor (Root) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async -> KillPointReport {
  var report = KillPointReport()
  do {
    let device = try await SimulatedDevice()
    let harness = subject.harness(on: device)
    // Every save but the last one fails, as it should.
    harness.configuration.log = .silent
    let first = try await harness.launch { subject.application() }
    try await prepare(first.root)
    let old = subject.values(of: first.root)
    try await harness.enterBackground()
    try requirePreserved(harness)
    let disk = harness.snapshot()
    var number = 1
    var isDone = false
    while !isDone {
      for cutsPower in [false, true] {
        harness.restore(from: disk)
        let trial = try await KillTrial(harness, subject, old: old, callNumber: number, change)
        isDone = trial.isAcknowledged
        if cutsPower { device.cutPower() }
        let restored = try await harness.relaunch()
        judge(subject.values(of: restored.root), trial, old: old, number, cutsPower, &report, sourceLocation)
      }
      report.killPoints = number
      number += 1
    }
    if !report.failures.isEmpty { await attachEvidence(of: harness, at: sourceLocation) }
  } catch {
    report.failures.append("\(error)")
    TestIssues.record("\(error)", at: sourceLocation)
  }
  return report
}

/// One save, killed at one call.
@MainActor private struct KillTrial {
  let new: HierarchyValues
  let isAcknowledged: Bool

  init<Root: RestorableController>(
    _ harness: RestorationHarness<HierarchyApplication<Root>>, _ subject: RestorationSubject<Root>,
    old: HierarchyValues, callNumber: Int, _ change: @MainActor (Root) async throws -> Void
  ) async throws {
    let application = try await harness.relaunch()
    if let difference = old.differences(to: subject.values(of: application.root)).first {
      throw HarnessError("The old state does not come back even without a kill: \(difference)")
    }
    try await change(application.root)
    new = subject.values(of: application.root)
    guard let process = harness.process?.fileSystem, let restorable = harness.restorable,
      let coordinator = harness.coordinator
    else {
      throw HarnessError("The program did not start.")
    }
    process.die(beforeCall: process.callCount + callNumber)
    let outcome = try? await subject.save(restorable, coordinator)
    switch outcome {
    case .preserved, .unchanged: isAcknowledged = process.isAlive
    default: isAcknowledged = false
    }
    if process.isAlive, !isAcknowledged {
      throw HarnessError("The save was not killed, and did not succeed: \(outcome.map { "\($0)" } ?? "it failed").")
    }
    harness.killWithoutNotice()
  }
}

@MainActor private func judge(
  _ values: HierarchyValues, _ trial: KillTrial, old: HierarchyValues, _ number: Int, _ cutsPower: Bool,
  _ report: inout KillPointReport, _ sourceLocation: SourceLocation
) {
  let end = cutsPower ? "a power cut" : "a kill"
  if values == trial.new {
    report.newStates += 1
  } else if values == old, !trial.isAcknowledged {
    report.oldStates += 1
  } else {
    let isLost = values == old
    let difference = trial.new.differences(to: values).map(\.description).joined(separator: "; ")
    let text =
      isLost
      ? "After \(end) at step \(number) an acknowledged save was lost: \(difference)"
      : "After \(end) at step \(number) neither the old nor the new state came back: \(difference)"
    report.failures.append(text)
    TestIssues.record(text, at: sourceLocation)
  }
}
