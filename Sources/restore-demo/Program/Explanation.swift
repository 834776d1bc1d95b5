import StateRestoration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the framework says, as one line for a person: the failure, the fate of the state, and the remedy.
enum Explanation {
  /// Why the device can't be opened.
  static func line(for error: ProtectionError) -> String {
    guard let number = error.errno else { return error.message }
    return "\(error.message) \(advice(for: number))"
  }

  /// Why something was not preserved.
  static func line(for error: any Error) -> String {
    switch error {
    case let error as RestorationError:
      guard let cause = error.cause as? ProtectionError else { return error.message }
      return "not preserved: \(line(for: cause))"
    case let error as ProtectionError: return "not preserved: \(line(for: error))"
    default: return "not preserved: \(error)"
    }
  }

  /// How a restoration went; nil when there is nothing to tell.
  static func line(for report: RestorationReport) -> String? {
    switch report.outcome {
    case .nothingPreserved: return nil
    case .restored: break
    case .damaged: return "what was preserved is damaged: it is set aside, and this is a new beginning (^R)"
    case .newerVersion:
      return "what is preserved is of a newer version: it is kept; start that version to see it (^R)"
    case .otherDevice:
      return "what is preserved was sealed on another device: it is kept, but can't be opened here (^R)"
    case .missing: return "the file of what was preserved is missing: put it back, or go on from here (^R)"
    case .rolledBack: return "an old file was put in the place of what was preserved: it is not used (^R)"
    case .unavailable: return "what was preserved can't be reached: nothing of it is lost; start again later (^R)"
    case .locked, .partlyRestored: return "locked: the passcode brings the rest"
    case .declined, .keysMissing, .expired, .givenUpAfterCrashes:
      return "\(report.outcome) (^R)"
    }
    if let leftOut = report.notRestored.first(where: { $0.notRestoredReason == .leftOutAfterCrash }) {
      return "\(leftOut.path) is left out, as the program died restoring it; it comes back at the next start (^R)"
    }
    for case .damaged? in report.notRestored.map(\.notRestoredReason) {
      return "a part of what was preserved is damaged: it is set aside, and the rest is back (^R)"
    }
    if let missing = report.notRestored.first {
      return "\(missing.path) did not come back: \(missing.notRestoredReason.map(String.init(describing:)) ?? "") (^R)"
    }
    for remark in report.remarks {
      switch remark {
      case .mergedPendingChanges, .interruptedBefore, .markerIgnored: continue
      default: return "\(remark) (^R)"
      }
    }
    return "everything is where it was: \(report.restoredCount) controllers (^R)"
  }

  /// Why the rest has not come back after the passcode; nil when it has, or the report says it.
  ///
  /// - Parameter reason: What was said meanwhile.
  static func line(afterUnlock report: RestorationReport?, because reason: String?) -> String? {
    guard report?.outcome == .locked || report?.outcome == .partlyRestored else { return nil }
    return "the rest is not back yet" + (reason.map { ": \($0)" } ?? "; it comes with the next save (^R)")
  }

  /// What to do about an error of the operating system.
  static func advice(for number: Int32) -> String {
    let reason = unsafe String(cString: strerror(number))
    switch number {
    case ENOSPC, EDQUOT, EFBIG: return "\(reason): make room, or choose another place with --state."
    case EROFS, EACCES, EPERM: return "\(reason): choose a place that can be written with --state."
    default: return "\(reason)."
    }
  }
}
