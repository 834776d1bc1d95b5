internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// What a save wrote.
  struct Written: Sendable {
    var kind: PreservationReceipt.Kind
    var receipt: StoreReceipt
    var findings: [PreservationFinding]
    /// How many changes the generation has with this save.
    var changeCount = 0
  }

  /// Writes what has changed since the last save; nil when nothing has, without touching the disk.
  ///
  /// - Parameter isCapture: Whether the live objects were captured, so that what none of them owns is carried over.
  mutating func write(context: RestorationContext, isCapture: Bool = true) throws -> Written? {
    let isOwed = continued == nil && writer.nodeCount > 0 && !isPendingCurrent
    guard writer.hasChanges || !merging.isEmpty || isOwed else { return nil }
    if isCapture { try markCarriedOver() }
    writer.context = context
    do throws(ProtectionError) {
      if base == .locked { return try writePending() }
      if let continued, merging.isEmpty {
        if let written = try appendChange(to: continued) {
          return written
        }
      }
      return try publish()
    } catch {
      // The writer takes what was put together for written: only a whole one is sure to have it.
      requireWhole()
      // What can't be appended while locked is a whole generation, which the store seals one-way.
      guard error.code == .locked, base != .locked else { throw error }
      return try publish()
    }
  }

  /// Appends what changed to the journal; nil when a whole generation has to be written instead.
  private mutating func appendChange(to generation: Generation) throws(ProtectionError) -> Written? {
    guard let delta = try? writer.makeDelta() else { return nil }
    guard let receipt = try store.append(delta, to: generation) else { return nil }
    if receipt.durability == .unknown { continued = nil }
    return Written(kind: .change, receipt: receipt, findings: takeSheddings(), changeCount: writer.deltaCount)
  }

  private mutating func publish() throws(ProtectionError) -> Written {
    let succession = try succession()
    let archive = try archived()
    let receipt = try store.publish(archive, succession)
    var findings = replacing.findings
    if receipt.durability == .durable {
      merging = []
      owesJoined = false
      findings = didReplace(receipt)
    }
    isPendingCurrent = false
    base = .opened
    continued = receipt.durability == .durable ? receipt.generation : nil
    return Written(
      kind: receipt.isSealedOneWay ? .pendingWhole : .whole, receipt: receipt, findings: findings + takeSheddings())
  }

  private mutating func writePending() throws(ProtectionError) -> Written {
    let receipt = try store.publishPending(try archived())
    isPendingCurrent = receipt.durability == .durable
    return Written(kind: .pendingChange, receipt: receipt, findings: takeSheddings())
  }

  mutating func archived() throws(ProtectionError) -> Data {
    do {
      return try writer.makeArchive()
    } catch {
      throw ProtectionError(.corrupt, "The state could not be put together; nothing was written.", cause: error)
    }
  }

  private mutating func takeSheddings() -> [PreservationFinding] {
    writer.takeSheddings().map { shedding in
      shedding.isLeftOut
        ? .shed(path: shedding.path, bytes: shedding.byteCount)
        : .overBudget(path: shedding.path, bytes: shedding.byteCount, limit: limits.bytesPerArchive)
    }
  }
}
