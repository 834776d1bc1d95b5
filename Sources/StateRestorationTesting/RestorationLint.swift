import FoundationShim
public import StateRestoration
public import Testing

/// Something that works today and will hurt later.
@nonexhaustive public enum LintFinding: Sendable, Hashable, CustomStringConvertible {
  /// Two hierarchies made one after the other have different identifiers: state will not find its object again.
  case unstableIdentifiers([RestorationPath])
  /// Keys that are written and never read.
  case unreadKeys(RestorationPath, [String])
  /// State that is different when it is preserved again right after restoring.
  case changesByRestoring(RestorationPath, keys: [String])
  /// A node over its size budget.
  case overBudget(RestorationPath, bytes: Int, limit: Int)
  /// A value that looks like model data, which has a store of its own.
  case looksLikeModelData(RestorationPath, key: String, why: String)
  /// A listed object without an identifier: it and everything below it is not preserved.
  case missingIdentifier(below: RestorationPath, type: String)
  /// A property with a controller that no list of children or views names: it is not preserved.
  case unlistedChild(RestorationPath, property: String)
  /// An object that did not come back in the round trip.
  case notRestored(RestorationPath, reason: String)
  /// A row of a weaker class of protection says, in its identifier, its model or a value, what a row of a stronger one keeps secret.
  case tellsOfSecret(RestorationPath, what: String, of: RestorationPath)
  /// Something that saving or restoring reported.
  case reported(String)

  /// One line: what, where, and what to do.
  public var description: String {
    switch self {
    case .unstableIdentifiers(let paths):
      "Identifiers differ from launch to launch: \(paths.map(\.description).joined(separator: ", ")). "
        + "Take them from the data or write them down; never make them up at launch."
    case .unreadKeys(let path, let keys): "\(path): written and never read: \(keys.joined(separator: ", "))."
    case .changesByRestoring(let path, let keys):
      "\(path): restoring changes preserved values: \(keys.joined(separator: ", "))."
    case .overBudget(let path, let bytes, let limit):
      "\(path): \(bytes) bytes of state, the budget is \(limit). Keep identifiers of model objects, not the objects."
    case .looksLikeModelData(let path, let key, let why):
      "\(path): “\(key)” looks like model data (\(why)). Keep its identifier instead."
    case .missingIdentifier(let path, let type):
      "\(path): a \(type) below has no restoration identifier, so nothing of it is preserved. "
        + "Give it one, or say RestorationIdentity.excluded."
    case .unlistedChild(let path, let property):
      "\(path): the controller in “\(property)” is not among the children, so it is not preserved. "
        + "List it in the restorationChildren of a RestorationParent, or ignore \(property)."
    case .notRestored(let path, let reason):
      "\(path): did not come back: \(reason). Register its class or make it at launch."
    case .tellsOfSecret(let path, let what, let secret):
      "\(path): \(what) is a value of \(secret), whose class of protection is stronger: it can be read while that is locked. "
        + "Keep it there alone, or name the object by a number."
    case .reported(let text): text
    }
  }
}

/// Looks for what works today and will hurt later: a round trip, and what it leaves to be said.
///
/// - Parameters:
///   - subject: How the hierarchy is made.
///   - change: Does what a user does, so that there is state to look at.
///   - sourceLocation: The line at which issues are recorded.
/// - Returns: The findings, each also recorded as an issue at the caller's line; empty when all is well.
@discardableResult
@MainActor public func lintRestoration<Root: RestorableController>(
  of subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation
) async -> [LintFinding] {
  var findings: [LintFinding] = []
  do {
    let unstable = unstableIdentifiers(of: subject)
    if !unstable.isEmpty { findings.append(.unstableIdentifiers(unstable)) }
    let device = try await SimulatedDevice()
    let harness = subject.harness(on: device)
    let application = try await harness.launch { subject.application() }
    try await change(application.root)
    findings += subject.mistakes(in: application.root)
    try await harness.enterBackground()
    try requirePreserved(harness)
    findings += preservationFindings(harness)
    let before = try await PreservedState(harness)
    try await harness.relaunch()
    // Of objects with made-up identifiers nobody expects that they come back.
    if unstable.isEmpty { findings += notRestored(harness.report) }
    for node in harness.report?.nodes ?? [] {
      for case .unreadKeys(let keys) in node.remarks { findings.append(.unreadKeys(node.path, keys)) }
    }
    let after = try await preservedAnew(subject, by: harness)
    findings += before.changes(to: after) + before.modelData + before.toldSecrets
    if !findings.isEmpty { await attachEvidence(of: harness, at: sourceLocation) }
  } catch {
    findings.append(.reported("\(error)"))
  }
  for finding in findings { TestIssues.record("\(finding)", at: sourceLocation) }
  return findings
}

/// What the hierarchy that a harness has restored preserves on a device where nothing is stored; the harness's program ends.
///
/// On its own device a save keeps the stored record of an object that nobody edited, whatever it would encode now.
@MainActor private func preservedAnew<Root>(
  _ subject: RestorationSubject<Root>, by harness: RestorationHarness<HierarchyApplication<Root>>
) async throws -> PreservedState {
  guard let root = harness.application?.root else { return try await PreservedState(harness) }
  harness.killWithoutNotice()
  let other = subject.harness(on: try await SimulatedDevice())
  try await other.launch { HierarchyApplication(root, registering: subject.register) }
  try await other.enterBackground()
  return try await PreservedState(other)
}

/// Paths that are in one of two fresh hierarchies and not in the other.
@MainActor private func unstableIdentifiers<Root>(of subject: RestorationSubject<Root>) -> [RestorationPath] {
  let (first, second) = (subject.make(), subject.make())
  let paths = [first, second].map { Set(HierarchyValues(of: $0).properties.keys) }
  return paths[0].symmetricDifference(paths[1]).sorted { $0.description < $1.description }
}

@MainActor private func preservationFindings<Application>(
  _ harness: RestorationHarness<Application>
) -> [LintFinding] {
  guard case .success(.preserved(let receipt)) = harness.restorable?.lastPreservation else { return [] }
  return receipt.findings.map { finding in
    if case .overBudget(let path, let bytes, let limit) = finding {
      return .overBudget(path, bytes: bytes, limit: limit)
    }
    return .reported("\(finding)")
  }
}
