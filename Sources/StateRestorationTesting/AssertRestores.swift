public import StateRestoration
public import Testing

/// Checks that a hierarchy comes back: makes it, changes it, preserves, restores into a fresh one, and compares values.
///
/// The comparison goes through the objects' own stored properties, by path, not through what a coder wrote: a
/// property that is neither encoded nor decoded is found too. It is restored twice, the second time with the
/// objects decoding in the opposite order, which must make no difference.
///
/// ```swift
/// await assertRestores(RestorationSubject { NotesWindow() }) { window in
///   window.editor.draft = "hello"
/// }
/// ```
///
/// - Parameters:
///   - subject: How the hierarchy is made.
///   - change: Changes the hierarchy as a user would. It is called once, with the hierarchy of a first launch.
///   - sourceLocation: The line of the test at which failures are shown.
/// - Returns: The differences between the values before and after restoring, in words; each also fails the test. Empty when
///   all is well.
@discardableResult
@MainActor public func assertRestores<Root: RestorableController>(
  _ subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation
) async -> [String] {
  do {
    let device = try await SimulatedDevice()
    let harness = subject.harness(on: device)
    let application = try await harness.launch { subject.application() }
    try await change(application.root)
    let expected = subject.values(of: application.root)
    for mistake in subject.mistakes(in: application.root) { TestIssues.record("\(mistake)", at: sourceLocation) }
    try await harness.enterBackground()
    try requirePreserved(harness)
    var found: [HierarchyDifference] = []
    for isReversed in [false, true] {
      harness.configuration.decodesInReverse = isReversed
      let restored = try await harness.relaunch()
      let differences = expected.differences(to: subject.values(of: restored.root)).filter { !found.contains($0) }
      for difference in differences {
        let order = isReversed ? " when objects decode in the opposite order" : ""
        TestIssues.record("\(difference)\(order)\(reasonText(harness, difference))", at: sourceLocation)
      }
      found += differences
    }
    let missing = notRestored(harness.report).filter { finding in
      !found.contains { if case .notRestored($0.path, _) = finding { true } else { false } }
    }
    for finding in missing { TestIssues.record("\(finding)", at: sourceLocation) }
    if !found.isEmpty || !missing.isEmpty { await attachEvidence(of: harness, at: sourceLocation) }
    return found.map(\.description)
  } catch {
    TestIssues.record("\(error)", at: sourceLocation)
    return ["\(error)"]
  }
}

/// Throws what the harness's program met when it preserved; declining counts.
@MainActor func requirePreserved<Application>(_ harness: RestorationHarness<Application>) throws {
  let outcome = try harness.restorable?.lastPreservation?.get()
  switch outcome {
  case .preserved, .unchanged: return
  case .declined, .deferred, nil:
    throw HarnessError("Nothing was preserved: \(outcome.map { "\($0)" } ?? "the program has no root controller").")
  }
}

/// Why an object did not come back, if the report knows.
@MainActor private func reasonText<Application>(
  _ harness: RestorationHarness<Application>, _ difference: HierarchyDifference
) -> String {
  guard difference.property == nil, let report = harness.report else { return "" }
  guard let node = report[difference.path] else { return " (nothing was preserved there)" }
  return node.notRestoredReason.map { " (\($0))" } ?? ""
}

/// Why a check could not be made.
public struct HarnessError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason.
  public let description: String

  init(_ description: String) { self.description = description }
}
