internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// What a save came to.
  struct Saved: Sendable {
    /// What was written; nil when nothing had changed.
    var written: Written?
    /// Records that were handed over and are not the same as before.
    var changedNodes: Int
    var carriedOverNodes: Int
    var findings: [PreservationFinding]
    /// Live objects whose values could not be encoded.
    var unencoded: [CaptureBatch.Key] = []
    /// Those of them whose stored state could not be read and stays.
    var postponed: [CaptureBatch.Key] = []
    /// Nodes whose stored state that of an object in the same place has replaced.
    var takenOver: [NodeID] = []
    /// Whether the app-level state could not be encoded.
    var isApplicationUnencoded = false
    /// True when the device is locked and nothing may be written.
    var isWaiting = false
  }

  /// Brings the writer up to date with a capture and writes what has changed.
  mutating func save(_ batch: CaptureBatch, context: RestorationContext, loader: StateLoader) throws -> Saved {
    if base == .unknown { try look(context: context, loader: loader) }
    var batch = batch
    if isSifting { sighting.sift(&batch) }
    let findings: [PreservationFinding]
    do {
      findings = try apply(batch)
    } catch {
      forgetOwners()
      throw error
    }
    if base == .locked, !sighting.isTouched {
      return saved(nil, findings, isWaiting: true)
    }
    let result = saved(try write(context: context), findings + owedFindings)
    changed = []
    owedFindings = []
    takenOver = []
    return result
  }

  private func saved(_ written: Written?, _ findings: [PreservationFinding], isWaiting: Bool = false) -> Saved {
    Saved(
      written: written, changedNodes: written == nil ? 0 : changed.count,
      carriedOverNodes: isWaiting ? 0 : carriedOverCount, findings: findings, unencoded: unencoded,
      postponed: postponed, takenOver: takenOver, isApplicationUnencoded: isApplicationUnencoded, isWaiting: isWaiting)
  }

  /// Finds out what a save would meet on disk, when nobody has restored in this run.
  ///
  /// What can be read is continued, so that what no object has is carried over. All of it is set aside first: objects of
  /// this run replace states that nobody has seen.
  private mutating func look(context: RestorationContext, loader: StateLoader) throws {
    let remarks: [RestorationReport.Remark]
    do throws(LoadFailure) {
      let loaded = try loader.loadNewest()
      remarks = loaded.remarks
      goOn(from: loaded, context: context)
    } catch {
      remarks = error.remarks
      switch error.outcome {
      case .locked: begin(.locked, context: context)
      case .unavailable:
        throw ProtectionError(.io, "What is on disk could not be read, so nothing was written over it.", cause: error)
      case .nothingPreserved: begin(.empty, context: context)
      default: begin(.empty, replacing: .refused, context: context)
      }
    }
    // Nobody gets a report: the receipt says it.
    replacing.findings = remarks.compactMap(PreservationFinding.init)
  }

  private mutating func goOn(from loaded: LoadedState, context: RestorationContext) {
    let refused = Replacing.refused(withOlder: loaded.isPredecessor)
    guard loaded.plan.context.schemaVersion <= context.schemaVersion else {
      return begin(.empty, replacing: refused, context: context)
    }
    // Of no generation, so that the next save is whole: what it replaces can then be set aside.
    try? continueArchive(loaded.reader, of: nil)
    guard base == .opened else { return begin(.empty, replacing: refused, context: context) }
    merging = loaded.pending
    owesJoined = loaded.isJoined
    owedFindings = loaded.keptRemovals
    replacing = refused
  }
}

extension PreservationFinding {
  /// What a report would have said of what went wrong on disk, or is gone from it; nil for everything else.
  fileprivate init?(_ remark: RestorationReport.Remark) {
    switch remark {
    case .failure(let text): self = .failure(text)
    case .setAsideRemoved(let state): self = .setAsideRemoved(state)
    default: return nil
    }
  }
}
