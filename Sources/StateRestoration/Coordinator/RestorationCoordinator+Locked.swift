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
  /// The objects that have written something while the device was locked.
  private(set) var writers: [WeakObject] = []
  /// The records, in the stored state, of the objects whose classes had keys, and these objects.
  private var readable: [ObjectIdentifier: NodeID] = [:]
  private var readableObjects: [WeakObject] = []
  private var readableIdentities: Set<ObjectIdentifier> = []
  private var readableRoles: [ObjectIdentifier: RestorationArchive.Role] = [:]
  /// Whether the app-level state is one of these.
  private(set) var hasReadableApplication = false
  private var readableApplication: NodeID?
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
  @MainActor mutating func add(_ record: NodeID, of node: LiveNode) {
    records[node.objectIdentity] = record
    writers.append(WeakObject(object: node.object))
  }

  /// Adds an object that has its state already, with the record in the stored state that this is, if it has one.
  @MainActor mutating func addReadable(_ node: LiveNode, _ record: NodeID?) {
    add(node)
    readable[node.objectIdentity] = record
    readableObjects.append(WeakObject(object: node.object))
    readableIdentities.insert(node.objectIdentity)
    readableRoles[node.objectIdentity] = node.role
  }

  /// Whether an object had its state before: what it has is what is stored.
  @MainActor func isReadable(_ object: any RestorableObject) -> Bool {
    !readableIdentities.isEmpty && readableIdentities.contains(ObjectIdentifier(object))
  }

  /// The role of an object that had its state before.
  @MainActor func role(of object: any RestorableObject) -> RestorationArchive.Role? {
    readableRoles[ObjectIdentifier(object)]
  }

  /// Says that the app-level state is in a record of the stored state, and is as the program has it.
  mutating func addReadableApplication(_ record: NodeID?) {
    (hasReadableApplication, hasApplication, readableApplication) = (true, true, record)
  }

  /// Says that what objects have that had their state before is theirs, whether it was saved or not.
  @MainActor func noteReadable(in tree: LiveTree) {
    for object in readableObjects.compactMap(\.object) { tree.given.noteEdit(object) }
  }

  /// Adds the record that the app-level state was written in.
  mutating func addApplication(_ record: NodeID?) { applicationRecord = record }

  /// Finds the records in the loaded state.
  mutating func find(in loaded: LoadedState) {
    let places = loaded.merging.ownRecords
    records = records.compactMapValues { places[$0].map(loaded.merging.moved.record) }
      .merging(readable.mapValues(loaded.merging.moved.record)) { $1 }
    applicationRecord = (readableApplication ?? applicationRecord.flatMap { places[$0] }).map(
      loaded.merging.moved.record)
  }

  /// Whether objects have records in the loaded state.
  var hasRecords: Bool { !records.isEmpty }

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
    (standing, isPartlyLocked) = (.locked, false)
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

  /// Saves what there is of the classes that had keys; one that fails leaves the rest for after the next save that doesn't.
  private func saveReadable() async -> Bool {
    do throws(RestorationError) {
      try await saveBefore()
      return true
    } catch {
      unlock.isOwed = true
      delegate?.coordinator(self, didFailToPreserve: error)
      return false
    }
  }

  /// Whether an unlock has something to restore.
  var waitsForUnlock: Bool { standing == .locked || isPartlyLocked }

  /// Looks once more at everything before the state is restored late.
  func takeEdits() async -> Edits {
    guard let root, !tree.roots.isEmpty, waitsForUnlock else { return Edits() }
    let context = configuration.context
    let batch = capture(
      root, scope: .all, context: context, application: takeApplicationState(context: context))
    let loader = loader()
    let (archive, edited, records, rows, readable) = await worker.run { session in
      session.take(batch)
      session.saveReadable(context: context, loader: loader)
      return (session.edits, session.editedKeys, session.ownRecords, session.ownRows, session.readableRecords)
    }
    var edits = Edits(archive: archive)
    for (key, record) in readable where key != CaptureBatch.application {
      tree.node(key).map { edits.addReadable($0, record) }
    }
    for key in edited.union(rows) { tree.node(key).map { edits.add($0, isEdited: edited.contains(key)) } }
    for (key, record) in records { tree.node(key).map { edits.add(record, of: $0) } }
    edits.addApplication(records[CaptureBatch.application])
    // A class must not make another object in the place of one to which an edited object refers.
    for node in tree.targets(of: edited, in: batch.targets) { edits.add(node, isEdited: false) }
    for node in tree.referrers.values { edits.addKept(by: node) }
    edits.hasApplication = edited.contains(CaptureBatch.application)
    if let record = readable[CaptureBatch.application] { edits.addReadableApplication(record) }
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
    guard waitsForUnlock, !operations.isPlanned(.restoring) else { return }
    // Asked before it waits its turn: a program that answers `wait` may restore meanwhile.
    if let delegate, delegate.coordinatorCanRestoreLate(self) == .wait { return }
    // What is restored then is read from the disk, and has to be what is here.
    if isPartlyLocked {
      // Mostly nothing is secret.
      if lastReport?.outcome != .partlyRestored, await worker.run({ $0.endBesideIfEmpty() }) { isPartlyLocked = false }
      guard isPartlyLocked, await saveReadable() else { return }
    }
    let report: RestorationReport? = await operations.run(.restoring) {
      guard waitsForUnlock, let root else { return nil }
      return await performRestoration(into: root, from: .newest, retriesLeftOut: false)
    }
    guard let report else { return }
    noticeChanges(after: report)
    delegate?.coordinator(self, didRestoreLate: report)
  }
}
