internal import FoundationShim
internal import RestorationArchive

/// The app-level state as the delegate encoded it.
typealias ApplicationState = (entries: [RestorationArchive.Entry], references: [CapturedReference])

extension RestorationCoordinator {
  /// Asks whether to preserve and takes the app-level state; nil when the delegate says no.
  func takeApplicationState(context: RestorationArchive.Context) -> ApplicationState? {
    guard let delegate else { return nil }
    let encoder = RestorationEncoder(path: [], context: context, owner: RestorationCoordinator.self)
    guard delegate.shouldSaveApplicationState(with: encoder) else {
      _ = encoder.finish()
      return nil
    }
    delegate.willEncodeRestorableState(with: encoder)
    let isSilent = encoder.delegateWithoutState == ObjectIdentifier(delegate)
    let state = encoder.finish()
    if !isSilent || !state.entries.isEmpty || !state.references.isEmpty {
      encodesApplicationState = true
      beginAsking()
    }
    return state
  }

  /// The app-level state that the delegate is given; nothing is in it when there is none for it.
  func applicationRecord(_ turn: RestoreTurn) -> any StateRecord {
    applicationRecords(turn).first.map { turn.plan.values(of: $0) } ?? EmptyRecord()
  }

  /// The records that the app-level state can be given, the newest first.
  private func applicationRecords(_ turn: RestoreTurn) -> [RestorePlan.RecordPlace] {
    guard let row = turn.application else { return [] }
    return turn.progress[row].candidates ?? (turn.progress[row].isRestored ? turn.plan.records(of: row) : [])
  }

  /// Lets the delegate read the app-level state, unless it was edited while locked: that is newer.
  ///
  /// - Returns: What the delegate was given.
  func decodeApplicationState(
    _ turn: RestoreTurn, _ edits: Edits, _ report: inout RestorationReport
  ) -> CaptureBatch.Given {
    guard let row = turn.plan.application else {
      if edits.hasReadableApplication { return .nothing }
      if edits.hasApplication {
        report.remarks.append(.applicationStateTouched)
      } else {
        readApplicationState(turn, &report)
      }
      return .nothing
    }
    let id = turn.plan.nodes[row].id
    let candidates = applicationRecords(turn)
    if edits.hasApplication {
      if !edits.hasReadableApplication { report.remarks.append(.applicationStateTouched) }
      guard let own = edits.applicationRecord else { return .unread(id) }
      let others = candidates.map { turn.plan.id(of: $0) }.filter { $0 != own }
      return .record(CaptureBatch.Gift(row: id, record: own, superseded: others))
    }
    switch turn.progress[row].reason {
    case .leftOutAfterCrash?:
      report.remarks.append(.applicationStateFailed("left out, because restoring died there"))
    case .damaged(let reason)?: report.remarks.append(.applicationStateFailed(reason))
    default: break
    }
    let isRead = readApplicationState(turn, &report)
    guard isRead, let given = candidates.first else {
      return turn.plan.records(of: row).isEmpty ? .record(CaptureBatch.Gift(row: id, record: id)) : .unread(id)
    }
    let older = candidates.dropFirst().filter { !turn.plan.flags(of: $0).contains(.first) }
    return .record(
      CaptureBatch.Gift(
        row: id, record: turn.plan.id(of: given), superseded: older.map { turn.plan.id(of: $0) }, isChanged: true))
  }

  /// Has the delegate read what it is given; says whether it could.
  @discardableResult
  private func readApplicationState(_ turn: RestoreTurn, _ report: inout RestorationReport) -> Bool {
    let record = applicationRecord(turn)
    let decoder = RestorationDecoder(.init(record, at: []), context: turn.plan.context, resolve: { turn.resolve($0) })
    defer { decoder.finish() }
    do throws(RestorationError) {
      try delegate?.didDecodeRestorableState(with: decoder)
      return true
    } catch {
      if !(record is EmptyRecord) { report.remarks.append(.applicationStateFailed(error.description)) }
      return false
    }
  }
}
