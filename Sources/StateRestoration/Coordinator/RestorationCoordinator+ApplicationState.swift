internal import FoundationEssentials
internal import RestorationArchive

/// The app-level state as the delegate encoded it.
typealias ApplicationState = (entries: [RestorationArchive.Entry], references: [CapturedReference])

/// The app-level state in one turn of restoring: one more object, at the empty path, that takes any variant.
@MainActor struct ApplicationTurn {
  /// The variant that the delegate is given; nil when there is none for it.
  var node: NodeID?
  /// Its record.
  var record: any StateRecord = EmptyRecord()
  /// Whether the newest was left out, because restoring died at it.
  var isLeftOut = false
  /// Whether it had been left out, and is tried again.
  var isRetried = false
  /// The newest that can't be read, and why; nil when all can.
  var damaged: (node: NodeID, reason: String)?
  /// Whether it was edited while locked: that is newer.
  var isEdited = false

  /// Selects among the variants, newest first.
  init(_ turn: RestoreTurn, isEdited: Bool) {
    self.isEdited = isEdited
    let retries = turn.plan.application.contains(where: \.isLeftOut) && turn.retries([])
    var variants = turn.plan.application
    // A left-out variant that is tried again goes before those in front of it.
    if retries { variants = variants.filter(\.isLeftOut) + variants.filter { !$0.isLeftOut } }
    for variant in variants {
      let isCrashNode = variant.id == turn.crashNode
      if isCrashNode || (variant.isLeftOut && !retries) {
        isLeftOut = true
      } else if let reason = variant.damage {
        damaged = damaged ?? (variant.id, reason)
      } else {
        (node, record, isRetried) = (variant.id, variant.record, variant.isLeftOut)
        return
      }
    }
  }
}

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

  /// Lets the delegate read the app-level state; nothing is in it when restoring died there before.
  ///
  /// - Returns: What the delegate was given.
  func decodeApplicationState(
    _ turn: RestoreTurn, _ application: ApplicationTurn, _ report: inout RestorationReport
  ) -> CaptureBatch.Given {
    if application.isEdited {
      report.remarks.append(.applicationStateTouched)
      return application.node.map { .owner($0) } ?? .nothing
    }
    if application.isLeftOut {
      report.remarks.append(.applicationStateFailed("left out, because restoring died there"))
    } else if let damaged = application.damaged {
      report.remarks.append(.applicationStateFailed(damaged.reason))
    }
    let unread = (application.node ?? application.damaged?.node).map { CaptureBatch.Given.over($0) } ?? .nothing
    let decoder = RestorationDecoder(
      record: application.record, path: [], context: turn.plan.context, resolve: { turn.resolve($0) })
    defer { decoder.finish() }
    turn.missesTarget = false
    do throws(RestorationError) {
      try delegate?.didDecodeRestorableState(with: decoder)
    } catch {
      if application.node != nil { report.remarks.append(.applicationStateFailed(error.description)) }
      return unread
    }
    guard !turn.missesTarget, let node = application.node else { return unread }
    return .owner(node)
  }
}
