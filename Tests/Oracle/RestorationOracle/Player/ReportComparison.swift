import DataProtection
import RestorationArchive
import StateRestoration

/// Compares what the engine reports with what the tables say: everything that depends on the cases of the reports.
enum ReportComparison {
  /// The paths that a report says were left out after a crash.
  static func leftOut(_ report: RestorationReport) -> Set<[String]> {
    Set(report.nodes.filter { $0.notRestoredReason == .leftOutAfterCrash }.map(\.path.names))
  }

  /// Compares the report of a launch, or of restoring again.
  static func difference(_ report: RestorationReport, _ outcome: Outcome, isStored: Bool, isLocked: Bool) -> String? {
    let expected: RestorationReport.Outcome =
      isLocked ? .locked : !isStored ? .nothingPreserved : outcome.isPartly ? .partlyRestored : .restored
    var waiting: Set<Protection> = []
    for case .waitsForUnlock(let protection) in report.remarks { Protection(protection).map { _ = waiting.insert($0) } }
    guard waiting == outcome.waiting else {
      return "the report says that \(waiting) wait, and should say \(outcome.waiting)"
    }
    guard report.outcome == expected, isStored || !isLocked else {
      return "the outcome is “\(report.outcome)”, and should be “\(expected)”"
    }
    guard leftOut(report) == outcome.leftOut else {
      return "the report leaves out \(text(leftOut(report))), and should leave out \(text(outcome.leftOut))"
    }
    return nil
  }

  /// Compares the outcome of a save that was acknowledged.
  static func difference(_ preserved: PreservationOutcome, _ outcome: Outcome, isLocked: Bool) -> String? {
    switch preserved {
    case .declined: return "the save was declined"
    case .deferred where outcome.hasWritten || !isLocked: return "a save was \(preserved)"
    case .unchanged where outcome.hasWritten: return "a save says that nothing has changed"
    case .deferred: return nil
    case .preserved, .unchanged: break
    }
    var duplicates: Set<[String]> = []
    var notEncoded: Set<[String]> = []
    for finding in preserved.receipt?.findings ?? [] {
      switch finding {
      case .duplicateIdentifier(let path, _, _): duplicates.insert(path.names)
      case .encodingFailed(let path, _): notEncoded.insert(path.names)
      default: break
      }
    }
    guard duplicates == outcome.duplicates else {
      return "the duplicates are \(text(duplicates)), and should be \(text(outcome.duplicates))"
    }
    guard notEncoded == outcome.notEncoded else {
      return "\(text(notEncoded)) were not encoded, and should be \(text(outcome.notEncoded))"
    }
    return nil
  }

  /// Whether a save has written nothing, as nothing may be written while the device is locked.
  static func isDeferred(_ preserved: PreservationOutcome) -> Bool {
    if case .deferred = preserved { true } else { false }
  }

  /// Whether a save had no room, and says so as a finding alone: nothing is stored, and nobody has edited anything.
  static func isRoomAwaited(_ preserved: PreservationOutcome) -> Bool {
    guard case .unchanged(let receipt?) = preserved else { return false }
    return receipt.findings.contains { finding in
      if case .failure(let text) = finding { text.hasPrefix("Nothing is preserved yet.") } else { false }
    }
  }

  private static func text(_ paths: Set<[String]>) -> String {
    "[" + paths.map { $0.joined(separator: "/") }.sorted().joined(separator: ", ") + "]"
  }
}

extension Protection {
  /// The class as the device calls it.
  var ofDevice: ProtectionClass {
    switch self {
    case .none: .none
    case .first: .completeUntilFirstUserAuthentication
    case .complete: .complete
    }
  }

  /// The class of the device's; nil for none, and for one that no page names.
  init?(_ protection: ProtectionClass?) {
    switch protection {
    case ProtectionClass.none?: self = .none
    case .completeUntilFirstUserAuthentication?: self = .first
    case .complete?: self = .complete
    default: return nil
    }
  }
}
