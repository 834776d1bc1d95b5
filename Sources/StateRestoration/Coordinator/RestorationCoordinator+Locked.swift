internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// What a run has edited that began on a locked device: that is newer than what is restored.
struct Edits {
  /// Those made while locked, as an archive; nil when there are none.
  var archive: Data?
  /// The edited objects.
  private(set) var objects: Set<ObjectIdentifier> = []
  /// Those that came or were edited while locked, those that edited ones refer to, and the objects above all these.
  private(set) var inUse: Set<ObjectIdentifier> = []
  /// The records of the objects that have some: their numbers among the edits first, and in the loaded state then.
  private var records: [ObjectIdentifier: NodeID] = [:]
  /// The record of the app-level state.
  private(set) var applicationRecord: NodeID?
  /// Whether the app-level state was edited.
  var hasApplication = false
  /// The objects that only references keep, by the objects that refer to them.
  private(set) var keptObjects: [ObjectIdentifier: [RestorationIdentifier: WeakObject]] = [:]

  /// Begins with what was edited, as an archive.
  init(archive: Data? = nil) { self.archive = archive }

  /// Adds an object that came or was edited.
  @MainActor mutating func add(_ node: LiveNode, isEdited: Bool = true) {
    guard node.object != nil else { return }
    if isEdited { objects.insert(node.objectIdentity) }
    var next = Optional(node)
    while let one = next, inUse.insert(one.objectIdentity).inserted { next = one.parent }
  }

  /// Adds the record that an object has written.
  @MainActor mutating func add(_ record: NodeID, of node: LiveNode) { records[node.objectIdentity] = record }

  /// Adds the record that the app-level state was written in.
  mutating func addApplication(_ record: NodeID?) { applicationRecord = record }

  /// Finds the records in the loaded state.
  mutating func find(_ places: [NodeID: NodeID]) {
    records = records.compactMapValues { places[$0] }
    applicationRecord = applicationRecord.flatMap { places[$0] }
  }

  /// The record in the loaded state that an object has written; nil when it has written none.
  @MainActor func record(of object: any RestorableObject) -> NodeID? {
    records.isEmpty ? nil : records[ObjectIdentifier(object)]
  }

  /// Adds the objects that references of another one keep.
  @MainActor mutating func addKept(by node: LiveNode) {
    for one in node.byHand {
      keptObjects[node.objectIdentity, default: [:]][one.identifier] = WeakObject(object: one.object)
    }
  }

  /// The object that a reference keeps and that is not made anew: something was edited that may refer to it.
  @MainActor func kept(_ identifier: RestorationIdentifier, by referrer: any RestorableObject)
    -> (any RestorableController)?
  {
    guard !objects.isEmpty else { return nil }
    return keptObjects[ObjectIdentifier(referrer)]?[identifier]?.object as? any RestorableController
  }
}

extension RestorationCoordinator {
  /// Meets the hierarchy on a locked device: from now on only edits are saved, and restoring does not overwrite them.
  func deferUntilUnlock() async {
    standing = .locked
    let context = configuration.context
    guard let root else { return await worker.run { $0.beginLocked(context: context) } }
    tree.given.noteApplication(.nothing)
    let batch = capture(
      root, scope: .all, context: context, application: takeApplicationState(context: context), isMeeting: true)
    await worker.run { session in
      session.beginLocked(context: context)
      session.take(batch)
    }
  }

  /// Meets the objects that have come, since a locked launch or as late objects, at the end of this turn.
  func lookAtNewcomers(_ scope: LiveTree.Scope) {
    guard dueLook == nil else { return }
    dueLook = (scope, standing)
    turns.perform { [weak self] in self?.endThisTurn() }
  }

  /// Ends this turn, in which nothing that the program does on a locked device is an edit: all that follows is one.
  package func endTurn() async { endThisTurn() }

  func endThisTurn() {
    guard let (scope, expected) = dueLook else { return }
    dueLook = nil
    guard standing == expected, operations.current != .restoring, let root else { return }
    let batch = capture(root, scope: scope, context: configuration.context, isMeeting: scope == .all)
    worker.post { $0.take(batch) }
  }

  /// Looks once more at everything before the state is restored late.
  func takeEdits() async -> Edits {
    guard let root, !tree.roots.isEmpty, standing == .locked else { return Edits() }
    let context = configuration.context
    let batch = capture(
      root, scope: .all, context: context, application: takeApplicationState(context: context))
    let (archive, edited, records, rows) = await worker.run { session in
      session.take(batch)
      return (session.edits, session.editedKeys, session.ownRecords, session.ownRows)
    }
    var edits = Edits(archive: archive)
    for key in edited.union(rows) { tree.node(key).map { edits.add($0, isEdited: edited.contains(key)) } }
    for (key, record) in records { tree.node(key).map { edits.add(record, of: $0) } }
    edits.addApplication(records[CaptureBatch.application])
    // A class must not make another object in the place of one to which an edited object refers.
    for node in tree.targets(of: edited, in: batch.targets) { edits.add(node, isEdited: false) }
    for node in tree.referrers.values { edits.addKept(by: node) }
    edits.hasApplication = edited.contains(CaptureBatch.application)
    return edits
  }

  /// Notes that the program is suspended: an unlock has to wait until it is woken.
  package func suspend() { unlock.isSuspended = true }

  /// Notes that the program runs again, and does what an unlock meanwhile has left to do.
  package func wake() {
    unlock.isSuspended = false
    guard unlock.wasMissed else { return }
    unlock.wasMissed = false
    turns.perform { [weak self] in self?.beginFollowingUnlock() }
  }

  /// Restores late; called after the unlock.
  package func protectedDataDidBecomeAvailable() async {
    unlock.count += 1
    await followUnlock()
  }

  /// Does what an unlock has left to do, in this turn and later ones; in one of a main loop before it returns.
  func beginFollowingUnlock() {
    guard turns.isInLoop else {
      Task { await followUnlock() }
      return
    }
    endHandedSave()
    // Something that nobody can go on with from here: once it is over, the next turn looks again.
    guard operations.current == nil, !Synchronous.isOn else {
      if operations.isPlanned(.restoring) { return }
      return operations.begin(.forgetting) { [weak self] in
        self?.operations.end()
        self?.turns.perform { self?.beginFollowingUnlock() }
      }
    }
    Synchronous.run { await self.followUnlock() }
  }

  /// Does what an unlock has left to do; once it is counted.
  func followUnlock() async {
    if unlock.isSuspended {
      unlock.wasMissed = true
      return
    }
    if unlock.attemptLags {
      unlock.attemptLags = false
      await moveAttempt()
    }
    // A restoration in progress looks for an unlock meanwhile by itself.
    guard standing == .locked, !operations.isPlanned(.restoring) else { return }
    // Asked before it waits its turn: a program that answers `wait` may restore meanwhile.
    if let delegate, delegate.coordinatorCanRestoreLate(self) == .wait { return }
    let report: RestorationReport? = await operations.run(.restoring) {
      guard standing == .locked, let root else { return nil }
      return await restoreNow(into: root, from: .newest, retriesLeftOut: false)
    }
    guard let report else { return }
    noticeChanges(after: report)
    delegate?.coordinator(self, didRestoreLate: report)
  }
}
