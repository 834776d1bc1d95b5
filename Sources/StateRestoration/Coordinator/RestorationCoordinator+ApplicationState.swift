internal import FoundationEssentials
internal import RestorationArchive

/// The app-level state as the delegate encoded it.
typealias ApplicationState = (entries: [RestorationArchive.Entry], references: [CapturedReference])

extension RestorationCoordinator {
  /// Asks whether to preserve and takes the app-level state; nil when the delegate says no.
  func takeApplicationState(context: RestorationContext) -> ApplicationState? {
    guard let delegate else { return nil }
    let encoder = RestorationEncoder(path: [], context: context, owner: RestorationCoordinator.self)
    guard delegate.shouldSaveApplicationState(with: encoder) else {
      _ = encoder.finish()
      return nil
    }
    delegate.willEncodeRestorableState(with: encoder)
    return encoder.finish()
  }

  /// The app-level state that the delegate is given; nothing is in it when there is none for it.
  func applicationRecord(_ turn: RestoreTurn) -> any StateRecord {
    turn.application.map { turn.plan.record(of: $0) } ?? EmptyRecord()
  }

  /// Lets the delegate read the app-level state, unless it was edited while locked: that is newer.
  ///
  /// - Returns: What the delegate was given.
  func decodeApplicationState(
    _ turn: RestoreTurn, isEdited: Bool, _ report: inout RestorationReport
  ) -> CaptureBatch.Given {
    let own = turn.application
    if isEdited {
      report.remarks.append(.applicationStateTouched)
      return own.map { .owner(turn.plan.nodes[$0].id) } ?? .nothing
    }
    for variant in turn.plan.application.map({ turn.plan.variants(ledBy: $0) }) ?? [] {
      switch turn.progress[variant].reason {
      case .leftOutAfterCrash?:
        report.remarks.append(.applicationStateFailed("left out, because restoring died there"))
      case .damaged(let reason)?: report.remarks.append(.applicationStateFailed(reason))
      default: break
      }
    }
    let decoder = RestorationDecoder(
      .init(applicationRecord(turn), at: []), context: turn.plan.context, resolve: { turn.resolve($0) })
    defer { decoder.finish() }
    turn.missesTarget = false
    var isRead = own.map { turn.progress[$0].isRestored } ?? false
    do throws(RestorationError) {
      try delegate?.didDecodeRestorableState(with: decoder)
    } catch {
      if isRead { report.remarks.append(.applicationStateFailed(error.description)) }
      isRead = false
    }
    guard let node = own.map({ turn.plan.nodes[$0].id }) else { return .nothing }
    guard isRead else { return .over(node) }
    return turn.missesTarget ? .referrer(node) : .owner(node)
  }
}
