internal import DataProtection
internal import FoundationShim
public import Observation

/// The windows of a program: those that were open come back, and each is preserved whenever it changes.
///
/// ```swift
/// try await RestorationSession.run(at: location, windows: { Page($0.id.rawValue) }) { windows in
///   if windows.roots.isEmpty { try await windows.open("first") }
///   await runMainLoop(windows)
/// }
/// ```
///
/// `RestorationSession.run` makes it. A program with a life cycle of its own makes it itself, with a
/// ``RestorableApplication``, and finds the same state. ``roots``, ``known`` and their order can be observed.
///
/// Each window has an archive of its own. What is opened, closed and discarded at the same time waits for each other, in the
/// order of the calls. Several processes may share the list of windows, each with windows of its own: one that another
/// process has discarded goes, unless it is open here. While the device is locked the list can't be read, but what is opened,
/// closed and discarded then is saved, sealed beside it, and joined when it is read the next time.
@Observable @MainActor public final class RestoredWindows<Root: RestorableController> {
  /// The device that holds the state; it can be given a passcode, locked and unlocked.
  @ObservationIgnored public let device: ProtectedDevice

  /// The list of windows, with a coordinator for each.
  @ObservationIgnored package let scenes: SceneSessions

  /// A window in use; another coordinator of its scene would need another root.
  private struct Window {
    let root: Root
    let coordinator: RestorationCoordinator
  }

  private var windows: [RestoredWindow.ID: Window] = [:]
  /// What a delegate of the program's own answers for a window.
  @ObservationIgnored private let answers: WindowDelegate?
  /// Whom the coordinators ask.
  @ObservationIgnored private weak var sessionDelegate: (any RestorationCoordinatorDelegate)?
  /// Has nothing but the state of the whole program, and its values, below it.
  @ObservationIgnored private let programRoot: RestorationScope
  /// The application of a program that is run: its life cycle, background tasks, handles of protected files, and the snapshot.
  @ObservationIgnored public internal(set) var application: RestorableApplication?
  /// Why the launch could not restore the windows; nil when it has, and before it.
  @ObservationIgnored private var launchFailure: RestorationError?
  @ObservationIgnored private let makeRoot: @MainActor (RestoredWindow) -> Root
  @ObservationIgnored private let instances: RestorationSession.Instances
  /// What only one process has at a time, if there is to be only one.
  @ObservationIgnored private var claim: ArchiveStore?
  /// Why the last window that did not come back did not.
  @ObservationIgnored private var refusal: RestorationError?
  @ObservationIgnored private var comeback: Task<RestorationError?, Never>?

  /// Called when a signal ends the program, after the last save: the place to give a terminal back.
  ///
  /// Of windows that were opened, by ``RestorationSession``.`openNow` or `open`. A program that is run has
  /// ``RestorationSessionDelegate/sessionDidEnd(by:)``.
  @ObservationIgnored public var willEnd: (@MainActor (Lifecycle.Signal) -> Void)? {
    get { signals.willEnd }
    set { signals.willEnd = newValue }
  }

  /// Called when Ctrl-Z stops the program, after the save: the place to give a terminal back.
  ///
  /// Of windows that were opened. The process stops when this returns. A stop by SIGSTOP is told to nobody.
  /// Of several that are open in a process, the one that was opened first is told. A program that is run has
  /// ``RestorationSessionDelegate``'s `didEnterBackground`.
  @ObservationIgnored public var willStop: (@MainActor () -> Void)? {
    get { signals.willStop }
    set { signals.willStop = newValue }
  }

  /// Called when the program goes on after a stop: the place to take the terminal again, and to draw.
  ///
  /// Of windows that were opened. In a turn after SIGCONT, which `fg` sends, also where ``willStop`` was not called.
  @ObservationIgnored public var didResume: (@MainActor () -> Void)? {
    get { signals.didResume }
    set { signals.didResume = newValue }
  }

  /// Called on the main thread when the device begins to lock and when it is unlocked, whoever does it.
  ///
  /// In a turn after that; after an unlock the windows are there, with their state. Of windows that were opened.
  @ObservationIgnored public var protectedDataDidChange: (@MainActor (ProtectedDevice.Notification) -> Void)?
  /// Answers signals in a program without a life cycle, follows unlocks, and says yes.
  @ObservationIgnored let signals = SignalAnswer()
  @ObservationIgnored private var unlocks: ProtectedDataObservation?
  @ObservationIgnored private var ownDelegate: SessionDelegate?
  @ObservationIgnored private(set) var hasEnded = false
  @ObservationIgnored private var scopeOpening: Task<RestorationError?, Never>?

  /// Makes the windows of a program with a life cycle of its own: give them to a ``RestorableApplication``, and launch it.
  ///
  /// - Parameters:
  ///   - device: Where the state is kept.
  ///   - delegate: Says whether to preserve and restore. It is held weakly: keep it yourself.
  ///   - configuration: What the framework has to know of the program.
  ///   - registry: The classes of objects that don't exist at launch, of all windows.
  ///   - instances: Whether the user may start the program again while it runs.
  ///   - makeRoot: Makes the top of a window's hierarchy, as it is before anything is restored.
  /// - Throws: ``RestorationError/Code/inUse`` if another process has the windows and only one may;
  ///   ``RestorationError/Code/deviceNotOpened`` for what keeps the device from giving the slot of the list.
  public convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), registry: RestorationRegistry = RestorationRegistry(),
    instances: RestorationSession.Instances = .one, makeRoot: @escaping @MainActor (RestoredWindow) -> Root
  ) throws(RestorationError) {
    let places: WindowPlaces
    do throws(ProtectionError) {
      places = try WindowPlaces(device, configuration, instances)
    } catch {
      throw RestorationError(error)
    }
    self.init(
      device: device, delegate: delegate, program: nil, scope: nil, places: places, configuration: configuration,
      registry: registry, instances: instances, makeRoot: makeRoot)
  }

  /// Makes the windows of a program that is run, without waiting for the disk on the main actor.
  ///
  /// - Parameters:
  ///   - program: Its own delegate, whose state is kept once, beside all windows.
  ///   - scope: The values of the program, which are there before any window; nil for those of ``openScope()``.
  ///   - isLaunched: Whether a launch restores these, and does not find them restored.
  static func make(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    program: (any RestorationSessionDelegate)?, scope: RestorationScope?, isLaunched: Bool,
    configuration: RestorationConfiguration, registry: RestorationRegistry, instances: RestorationSession.Instances,
    makeRoot: @escaping @MainActor (RestoredWindow) -> Root
  ) async throws(ProtectionError) -> RestoredWindows<Root> {
    let places = try await device.away { (device) throws(ProtectionError) in
      try WindowPlaces(device, configuration, instances)
    }
    let windows = RestoredWindows(
      device: device, delegate: delegate, program: program, scope: scope, places: places,
      configuration: configuration, registry: registry, instances: instances, makeRoot: makeRoot)
    guard program != nil || scope != nil else { return windows }
    do throws(ProtectionError) {
      let coordinator = try await windows.beginProgram(program ?? delegate)
      if !isLaunched { try? await windows.restoreProgram(coordinator) }
    } catch  where error.code == .inUse {
      // Another owner has it, or too many processes have one.
      configuration.log.log(.warning, "the state of the whole program belongs to another process: \(error)")
    }
    return windows
  }

  private init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    program: (any RestorationSessionDelegate)?, scope: RestorationScope?, places: WindowPlaces,
    configuration: RestorationConfiguration, registry: RestorationRegistry, instances: RestorationSession.Instances,
    makeRoot: @escaping @MainActor (RestoredWindow) -> Root
  ) {
    self.device = device
    programRoot = scope ?? RestorationScope("program")
    self.makeRoot = makeRoot
    self.instances = instances
    claim = places.claim
    let answers = program.map(WindowDelegate.init)
    self.answers = answers
    scenes = SceneSessions(
      list: places.list, on: device, delegate: answers ?? delegate, configuration: configuration, registry: registry)
    sessionDelegate = program ?? delegate
    ExitGuard.add(self)
  }

  /// Keeps the state of the whole program once, beside all windows; of several processes, each has the first that nobody has.
  private func beginProgram(
    _ program: (any RestorationCoordinatorDelegate)?
  ) async throws(ProtectionError) -> RestorationCoordinator {
    var number = 1
    while true {
      let session = Self.programSession(number)
      do throws(ProtectionError) {
        let coordinator = try await RestorationCoordinator.make(
          on: device, delegate: program, configuration: scenes.configuration, window: session)
        begin(coordinator, as: session)
        return coordinator
      } catch  where error.code == .inUse && instances == .several && number < Self.programLimit {
        number += 1
      }
    }
  }

  private func begin(_ coordinator: RestorationCoordinator, as session: RestoredWindow.ID) {
    if instances == .several {
      scenes.otherPrograms = (1...Self.programLimit).map(Self.programSession).filter { $0 != session }
    }
    coordinator.root = programRoot
    coordinator.preservesAutomatically = .onChange(coalescedOver: RestorationSession.interval)
    scenes.program = coordinator
    // A change is noticed when a window is saved; nobody observes it.
    answers?.onSave = { [weak coordinator] in coordinator?.invalidateApplicationState() }
  }

  /// The name under which the state of the whole program is kept: no window has it.
  static var programSession: RestoredWindow.ID { programSession(1) }

  /// The name of the state of one of several processes.
  private static func programSession(_ number: Int) -> RestoredWindow.ID {
    RestoredWindow.ID("\u{0}\(number)")
  }

  /// So many processes at a time have a state of the program's own; a further one has none.
  private static var programLimit: Int { 16 }

  /// The values of the program that belong to no window: what was opened last, say, or how a list is sorted everywhere.
  ///
  /// They are preserved as windows are: at each change, and when the program ends. While the device is locked the scope is
  /// empty, and gets its values at the unlock. A scope of your own, which was given to `run` or `open`, has its values before
  /// any window is made. Closing windows leaves it alone. With `instances: .several` each of up to 16
  /// processes has values of its own: the first that no other process has.
  ///
  /// - Returns: The same scope each time.
  /// - Throws: ``RestorationError/Code/inUse`` while another process has it, ``RestorationError/Code/deviceNotOpened``.
  public func openScope() async throws(RestorationError) -> RestorationScope {
    let former = scopeOpening
    let opening = Task { () -> RestorationError? in
      _ = await former?.value
      do throws(RestorationError) { try await openScopeOnce() } catch { return error }
      return nil
    }
    scopeOpening = opening
    if let failure = await opening.value { throw failure }
    return programRoot
  }

  private func openScopeOnce() async throws(RestorationError) {
    if let coordinator = scenes.program { return await coordinator.endOperations() }
    let coordinator: RestorationCoordinator
    do throws(ProtectionError) {
      coordinator = try await beginProgram(sessionDelegate)
    } catch {
      throw RestorationError(error, "The values of the program can't be opened.")
    }
    try await restoreProgram(coordinator)
  }

  private func restoreProgram(_ coordinator: RestorationCoordinator) async throws(RestorationError) {
    try await coordinator.restore(into: programRoot)
    // What follows on a locked device is an edit.
    await coordinator.endTurn()
  }

  /// Opens the values of the program at once; see ``openScope()``.
  public func openScopeNow() throws(RestorationError) -> RestorationScope {
    try scenes.program?.requireFree(.restoring)
    try Synchronous.run { () async throws(RestorationError) in try await self.openScopeOnce() }
    return programRoot
  }

  /// Says that the state of the whole program has changed, which the delegate of `run` encodes: it is saved soon.
  ///
  /// Saving a window saves it too.
  public func invalidateApplicationState() { scenes.program?.invalidateApplicationState() }

  /// The windows as a life cycle restores and preserves them.
  func makeEngine() -> SceneEngine {
    SceneEngine(
      scenes, didLaunch: { [weak self] in self?.launchFailure = $0 },
      comeBack: { [weak self] in _ = await self?.comeBack() },
      makeRoot: { [weak self] in self?.beginWindow($0) })
  }

  /// All windows that are known, open and closed, most recently active first.
  ///
  /// What other processes of the program do with theirs is seen whenever the list is read or written.
  public var known: [RestoredWindow] { scenes.sessions }

  /// The window that was active last and is open; nil when none is.
  public var frontmost: RestoredWindow? { scenes.frontmost }

  /// The roots of the open windows, the frontmost first.
  public var roots: [Root] { scenes.sessions.compactMap { self[$0.id] } }

  /// The root of an open window; nil if there is none of this name.
  public subscript(id: RestoredWindow.ID) -> Root? {
    guard let window = windows[id], scenes.sessions.contains(where: { $0.id == id && $0.isOpen }) else { return nil }
    // A coordinator that was closed elsewhere has let its archive go.
    return window.coordinator.standing == .discarded ? nil : window.root
  }

  /// The reports of the open windows, with the reasons: of the launch, and after an unlock of that.
  public var reports: [RestoredWindow.ID: RestorationReport] { windows.compactMapValues(\.coordinator.lastReport) }

  /// The report of the values of the program, as ``reports`` has one of each window; nil before ``openScope()``.
  public var programReport: RestorationReport? { scenes.program?.lastReport }

  /// The windows that the user has closed last, the very last first, with the titles that they had.
  ///
  /// There are at most ``RestorationConfiguration/recentlyClosedLimit``, and none that was closed longer ago than
  /// ``RestorationConfiguration/recentlyClosedAge``. The state of others is deleted with the next close or launch.
  public var recentlyClosed: [RestoredWindow] { scenes.recentlyClosed }

  /// Opens a window that was closed, with the state that it had.
  ///
  /// - Parameter id: One of ``recentlyClosed``; nil for the last one.
  /// - Returns: The root; nil when there is no such window any more.
  /// - Throws: What ``open(_:role:)`` throws.
  @discardableResult
  public func reopen(_ id: RestoredWindow.ID? = nil) async throws(RestorationError) -> Root? {
    // Another process may have opened it.
    if device.isProtectedDataAvailable { try await scenes.load() }
    guard let session = recentlyClosed.first(where: { id == nil || $0.id == id }) else { return nil }
    return try await open(session.id)
  }

  /// Opens a new window, whose name no window of any process has or had.
  ///
  /// - Parameter role: What kind of window it is.
  /// - Returns: The root; the session that it was made for has the name.
  @discardableResult
  public func openNew(role: String = "") async throws(RestorationError) -> Root {
    try await open(Self.newName(), role: role)
  }

  /// A name that no window has.
  static func newName() -> RestoredWindow.ID { RestoredWindow.ID(UUID().uuidString) }

  /// Opens a window, new or closed before, with the state that it had; or brings an open one to the front.
  ///
  /// While the device is locked the window is empty, and gets its state at the unlock. If it throws, there is no window. One
  /// that another process has throws an error whose cause is a `ProtectionError` with the code `inUse` and the number of that
  /// process, which may be asked to bring it to the front.
  ///
  /// - Parameters:
  ///   - id: Which window; any name that the program likes.
  ///   - role: What kind of window it is; empty to leave that as it is.
  /// - Returns: The root.
  @discardableResult
  public func open(_ id: RestoredWindow.ID, role: String = "") async throws(RestorationError) -> Root {
    let coordinator = try await scenes.open(id, role: role)
    if let root = self[id] {
      // A launch or an unlock may be restoring it.
      await coordinator.endOperations()
      return root
    }
    let root = try beginOpened(id, role: role)
    try await coordinator.restore(into: root)
    // What follows on a locked device is an edit.
    await coordinator.endTurn()
    return root
  }

  /// Makes the root of a window that the list has just taken as open.
  func beginOpened(_ id: RestoredWindow.ID, role: String) throws(RestorationError) -> Root {
    forgetClosed()
    let session = scenes.sessions.first { $0.id == id } ?? RestoredWindow(id: id, role: role)
    guard let root = beginWindow(session) else {
      throw RestorationError(.deviceNotOpened, "The window “\(id)” was closed while it was opened; open it again.")
    }
    return root
  }

  /// Preserves a window and closes it: the next launch does not open it, and ``reopen(_:)`` gives its state back.
  ///
  /// Let its root go afterwards. If the window can't be preserved, this throws and it stays open. If only the list of
  /// windows can't be written, this throws and the window is closed; the next list that is written says so.
  ///
  /// What is closed after ``announceEnd()`` is open at the next launch.
  ///
  /// - Parameters:
  ///   - id: Which window.
  ///   - title: What the user calls it, for ``recentlyClosed``.
  public func close(_ id: RestoredWindow.ID, title: String = "") async throws(RestorationError) {
    defer { forgetClosed() }
    try await scenes.close(id, title: title)
  }

  /// Forgets a window, open or closed, and deletes everything that was preserved for it, older generations included.
  ///
  /// The program's snapshot goes, too, as it may show the window. If this throws because the state can't be deleted, the window
  /// stays, and is saved as before; otherwise its state is gone.
  public func discard(_ id: RestoredWindow.ID) async throws(RestorationError) {
    defer { forgetClosed() }
    try await scenes.discard(id)
  }

  /// Notes that a window came to the front.
  public func activate(_ id: RestoredWindow.ID) async throws(RestorationError) { try await scenes.activate(id) }

  /// Preserves all windows and the values of the program now, and returns when they are on disk; one that fails keeps none of
  /// the others from it.
  ///
  /// Changes are preserved without it; call it where the program has to know that they are.
  ///
  /// - Returns: The outcomes by window, the most recent first.
  /// - Throws: ``RestorationError``, the first one, when all windows were tried.
  @discardableResult
  public func preserve() async throws(RestorationError) -> [(window: RestoredWindow, outcome: PreservationOutcome)] {
    try await scenes.preserveAll()
  }

  /// The coordinator of an open window, which settles conflicts and restores what was set aside; nil if the window is not open.
  public func coordinator(of id: RestoredWindow.ID) -> RestorationCoordinator? {
    self[id] == nil ? nil : windows[id]?.coordinator
  }

  /// The user quits: windows that are closed from now on are open at the next launch.
  ///
  /// Call it first in a Quit command after which the toolkit closes every window. A signal that ends the program needs no call.
  public func announceEnd() { scenes.announceEnd() }

  /// Unlocks the device, and returns when every window has its state: those that were open, and those opened while locked.
  ///
  /// An object that was edited while locked keeps its edits. A window closed while locked stays closed. A program that
  /// wipes passcodes from its memory gives a `ProtectedDevice.Passcode` to the ``device`` instead; then ``roots``
  /// changes a moment later.
  ///
  /// - Returns: The reports of all open windows.
  /// - Throws: ``RestorationError/Code/wrongPasscode``, or what keeps the device from being unlocked; or the one that keeps a window
  ///   from being read, with the others there. Call it again then.
  @discardableResult
  public func unlock(passcode text: String) async throws(RestorationError) -> [RestoredWindow.ID: RestorationReport] {
    try await device.unlockForState(passcode: text)
    try await finishUnlock()
    return reports
  }

  /// Returns when every window has its state; throws what keeps one from being read.
  func finishUnlock() async throws(RestorationError) {
    if let failure = await comeBack() { throw failure }
  }

  // MARK: - Coming back

  /// Makes the root of a window, which is preserved once it is restored; nil if there is one, or another process has it.
  private func beginWindow(_ session: RestoredWindow) -> Root? {
    guard self[session.id] == nil else { return nil }
    do throws(RestorationError) {
      let coordinator = try scenes.coordinator(for: session.id)
      scenes.isAsking = true
      defer { scenes.isAsking = false }
      let root = makeRoot(session)
      windows[session.id] = Window(root: root, coordinator: coordinator)
      coordinator.preservesAutomatically = .onChange(coalescedOver: RestorationSession.interval)
      return root
    } catch {
      // The windows of other processes are theirs.
      if instances == .several, error.code == .inUse { return nil }
      refusal = error
      scenes.configuration.log.log(.warning, "the window “\(session.id)” did not come back: \(error)")
      return nil
    }
  }

  /// Takes note of the launch; throws when nothing came back and an unlock would not help.
  func takeLaunch() async throws(RestorationError) {
    if let failure = launchFailure {
      guard (failure.cause as? ProtectionError)?.code == .locked else { throw failure }
      // Unlocked meanwhile.
      if device.isProtectedDataAvailable, let failure = await comeBack() { throw failure }
    }
    if let refusal, windows.isEmpty { throw refusal }
  }

  /// Brings back every window that was open and is not there; one call after another.
  @discardableResult
  private func comeBack() async -> RestorationError? {
    let former = comeback
    let task = Task { () -> RestorationError? in
      _ = await former?.value
      return await comeBackNow()
    }
    comeback = task
    return await task.value
  }

  private func comeBackNow() async -> RestorationError? {
    await scenes.program?.finishLateRestoration()
    for window in windows.values { await window.coordinator.finishLateRestoration() }
    return await bringBack()
  }

  /// Brings back the windows that the launch could not.
  private func bringBack() async -> RestorationError? {
    guard launchFailure != nil else { return nil }
    do throws(RestorationError) {
      try await loadAndRestore()
      return nil
    } catch {
      scenes.configuration.log.log(.warning, "the windows did not come back: \(error)")
      return error
    }
  }

  private func loadAndRestore() async throws(RestorationError) {
    try await scenes.load()
    launchFailure = nil
    try await scenes.restoreOpenScenes { beginWindow($0) }
  }

  /// Forgets the windows that are closed.
  func forgetClosed() { windows = windows.filter { self[$0.key] != nil } }

  /// Lets the state of all windows go, so that another session may have it; they stay open in the list.
  func letGo() async {
    for coordinator in beginEnd() { await coordinator.letGo() }
    releaseClaim()
  }

  /// Has nothing saved by itself any more; returns whose state is to be let go.
  private func beginEnd() -> [RestorationCoordinator] {
    hasEnded = true
    signals.end()
    unlocks = nil
    let coordinators = windows.values.map(\.coordinator) + [scenes.program].compactMap(\.self)
    for coordinator in coordinators { coordinator.preservesAutomatically = .never }
    return coordinators
  }

  private func releaseClaim() {
    claim?.close()
    claim = nil
  }

  // MARK: - Without a life cycle

  /// Makes the windows of a program without a life cycle, whose answer to every question is yes; brings back those that were
  /// open, and follows unlocks from then on.
  ///
  /// Throws what a launch by `run` throws: nothing came back, and an unlock would not help.
  static func open(
    on device: ProtectedDevice, scope: RestorationScope?, configuration: RestorationConfiguration,
    registry: RestorationRegistry, instances: RestorationSession.Instances,
    makeRoot: @escaping @MainActor (RestoredWindow) -> Root
  ) async throws -> RestoredWindows<Root> {
    let delegate = SessionDelegate()
    let windows = try await make(
      device: device, delegate: delegate, program: nil, scope: scope, isLaunched: false, configuration: configuration,
      registry: registry, instances: instances, makeRoot: makeRoot)
    windows.ownDelegate = delegate
    try await windows.comeBackAtLaunch()
    return windows
  }

  private func comeBackAtLaunch() async throws(RestorationError) {
    followUnlocks()
    scenes.beginRun()
    do throws(RestorationError) {
      try await loadAndRestore()
    } catch {
      guard (error.cause as? ProtectionError)?.code == .locked else { throw error }
      launchFailure = error
      // Unlocked meanwhile.
      if device.isProtectedDataAvailable, let failure = await bringBack() { throw failure }
    }
    if let refusal, windows.isEmpty { throw refusal }
  }

  private func followUnlocks() {
    let turns = MainTurns(scenes.configuration.mainLoop)
    turns.mayBegin = { [weak self] in self?.isAsking != true }
    unlocks = device.observeProtectedData { [weak self] notification in
      turns.perform {
        guard notification == .protectedDataDidBecomeAvailable else {
          self?.protectedDataDidChange?(notification)
          return
        }
        self?.followUnlock(in: turns)
      }
    }
  }

  /// Whether the program is asked for something by a call that has not returned.
  private var isAsking: Bool { Synchronous.isOn || windows.values.contains { $0.coordinator.isAsking } }

  /// Brings the windows back that could not be known, has those that are open follow the unlock, and tells the program.
  private func followUnlock(in turns: MainTurns) {
    guard launchFailure != nil || protectedDataDidChange != nil else { return }
    guard turns.isInLoop else {
      Task {
        await comeBack()
        protectedDataDidChange?(.protectedDataDidBecomeAvailable)
      }
      return
    }
    scenes.whenFree { [weak self] in
      // What keeps a window from being read is in the log.
      try? self?.finishUnlockNow()
      self?.protectedDataDidChange?(.protectedDataDidBecomeAvailable)
    } orLater: { [weak self] in
      turns.perform { self?.followUnlock(in: turns) }
    }
  }

  /// Returns when every window has its state; see ``finishUnlock()``.
  func finishUnlockNow() throws(RestorationError) {
    do throws(RestorationError) {
      for coordinator in [scenes.program].compactMap(\.self) + windows.values.map(\.coordinator) {
        try coordinator.finishLateRestorationNow()
      }
      try scenes.requireFree()
    } catch {
      // Somebody else restores, and is told of the unlock.
      return
    }
    if let failure = Synchronous.run({ await self.bringBack() }) { throw failure }
  }

  /// Preserves the values of the program; nil if there are none.
  func preserveProgramNow() throws(RestorationError) { _ = try scenes.program?.preserveNow(programRoot) }

  /// Lets the state of all windows go at once; see ``letGo()``.
  func letGoNow() {
    for coordinator in beginEnd() { coordinator.letGoNow() }
    releaseClaim()
  }
}

/// What the windows of a program have on the disk beside their own archives.
struct WindowPlaces: Sendable {
  let list: ArchiveStore
  /// What only one process has at a time, if there is to be only one.
  let claim: ArchiveStore?

  /// Takes them; it waits for the disk.
  init(
    _ device: ProtectedDevice, _ configuration: RestorationConfiguration, _ instances: RestorationSession.Instances
  ) throws(ProtectionError) {
    claim = instances == .one ? try device.claim(of: configuration) : nil
    list = try device.listOfScenes(of: configuration)
  }
}

extension RestoredWindows: SavedAtExit {
  func saveNow(isEnd: Bool) {
    scenes.program?.preserveBeforeExit(programRoot, isEnd: isEnd)
    for window in windows.values { window.coordinator.preserveBeforeExit(window.root, isEnd: isEnd) }
  }
}
