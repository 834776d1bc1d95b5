import Foundation
import StateRestoration

/// The program: it owns the hierarchy, draws it, and hands keys down; the framework does the rest.
///
/// It is the same for a terminal and for a script: both give it keys and take its screen.
@MainActor final class DemoApplication {
  let device: ProtectedDevice
  let root: RootController
  let shelf: NoteShelf
  let coordinator: RestorationCoordinator
  let application: RestorableApplication
  /// The instance that uses the same state, so that this one preserves nothing; nil when this is the first.
  private let first: String?
  /// Whether another instance uses the same state.
  var isSecond: Bool { first != nil }

  /// Called when the screen may have changed.
  var onChange: @MainActor () -> Void = {}
  /// Called when the terminal is to be taken or given back.
  var onWindow: @MainActor (_ isShown: Bool) -> Void {
    get { restoration.onWindow }
    set { restoration.onWindow = newValue }
  }
  /// Called when the program is to end.
  var onEnd: @MainActor () -> Void = {}

  /// The last message; it stays in the status line until the next key.
  private var notice: String?
  /// The last receipt, which stands there otherwise.
  private var receipt = ""
  var lockScreen: LockScreen?
  var dialog: PasscodeDialog?
  var reportView: ReportView?
  /// The jots that are written while the device is locked.
  var jot: JotController?
  private var snapshot: String?
  /// How many receipts there were in this run, so that each one shown differs from the one before.
  private var saves = 0
  /// The report of the desktop session, where it is followed.
  var desktopReport: (() -> String)?
  private let restoration: DemoRestoration

  /// How long changes are gathered before they are preserved; what a SIGKILL can cost.
  static let interval = Duration.milliseconds(300)

  init(library: NoteLibrary, device: ProtectedDevice, log: RestorationLog, hidesTitles: Bool) throws {
    self.device = device
    let shelf = NoteShelf(library)
    self.shelf = shelf
    let relay = StatusRelay()
    let notes = NotesController(shelf: shelf, hidesTitles: hidesTitles) { relay.say($0) }
    let search = SearchController(shelf: shelf) { relay.open($0) }
    let settings = SettingsController(hasPasscode: { device.hasPasscode }) { relay.act($0) }
    root = RootController(notes: notes, search: search, settings: settings)
    var configuration = RestorationConfiguration(application: "restore-demo", applicationVersion: "1.0")
    configuration.log = log
    // Tabs and lists come back on a locked device; what is secret says so itself.
    configuration.protection = .none
    let made = try Self.makeCoordinator(device: device, root: root, configuration: configuration)
    coordinator = made.coordinator
    restoration = made.restoration
    first = made.first
    application = try RestorableApplication(device: device, coordinator: coordinator, delegate: restoration)
    restoration.register(with: coordinator.registry)
    relay.application = self
    restoration.application = self
  }

  /// Takes the state, or none of it when another instance has it: as a window of its own.
  private static func makeCoordinator(
    device: ProtectedDevice, root: RootController, configuration: RestorationConfiguration
  ) throws -> (coordinator: RestorationCoordinator, restoration: DemoRestoration, first: String?) {
    let owner: String
    let first = DemoRestoration(root: root, preserves: true)
    do {
      let coordinator = try RestorationCoordinator(device: device, delegate: first, configuration: configuration)
      return (coordinator, first, nil)
    } catch {
      guard error.code == .inUse else { throw error }
      owner = "another restore-demo" + (error.processIdentifier.map { " (\($0))" } ?? "")
    }
    let second = DemoRestoration(root: root, preserves: false)
    let window = RestoredWindow.ID(rawValue: "instance-\(ProcessInfo.processInfo.processIdentifier)")
    let coordinator = try RestorationCoordinator(
      device: device, delegate: second, configuration: configuration, window: window)
    return (coordinator, second, owner)
  }

  /// Launches: restores the state, or asks for the passcode.
  func launch() async throws {
    if isLocked { lockScreen = LockScreen() }
    try await application.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: Self.interval)
    if let first { say("\(first) uses this state: this one preserves nothing") }
    onChange()
  }

  /// Whether what is secret must not be shown.
  var isLocked: Bool { device.hasPasscode && device.lockState != .unlocked }

  /// The status line.
  var status: String { notice ?? receipt }

  /// Puts a line into the status line; no receipt takes it away before the user has pressed a key.
  func say(_ text: String) {
    notice = text
    onChange()
  }

  /// Lets the status line show the last receipt again.
  func clearNotice() { notice = nil }

  /// The report of the restoration, the late one after an unlock included.
  var report: RestorationReport? { application.report }

  // MARK: - Drawing

  /// The frame around the screen of the selected tab.
  var chrome: Chrome {
    Chrome(
      tabs: root.tabs.compactMap { ($0 as? any Screen).map { $0 is NotesController ? "Notes" : $0.title } },
      selectedTab: root.selectedIndex, status: status, hints: hints)
  }

  /// The keys of what has them.
  private var hints: [Hint] {
    if let hints = lockScreen?.hints ?? reportView?.hints ?? dialog?.hints { return hints }
    return [Hint("F1", "help")] + (root.screen?.hints ?? []) + [
      Hint("^Q", "quit"), Hint("^T", "tab"), Hint("^L", "lock"), Hint("^R", "report"), Hint("^\\", "forget"),
    ]
  }

  /// Draws the whole screen.
  func draw(rows: Int, columns: Int) -> Canvas {
    var canvas = Canvas(rows: rows, columns: columns)
    let screen = root.screen
    var area = chrome.draw(into: &canvas)
    if let lockScreen {
      let rows = lockScreen.rows(inColumns: area.columns)
      area = screen?.drawLocked(into: &canvas, area: area, lockRows: rows) ?? area
      lockScreen.draw(into: &canvas, area: area, jot: jot?.text ?? "")
      return canvas
    }
    if let snapshot {
      for (row, line) in snapshot.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        canvas.draw(line, row: row, column: 0, in: area, style: .dim)
      }
      return canvas
    }
    let jots = root.inbox.jots.map(\.text).filter { !$0.isEmpty }
    if screen is NotesController, root.notes.stack.stack.count == 1, !jots.isEmpty {
      for (row, line) in jots.prefix(3).enumerated() {
        canvas.draw("✎ \(line)", row: row, column: 1, in: area, style: .warning)
      }
      let count = jots.count > 3 ? "3 of \(jots.count) " : ""
      canvas.draw(
        "  \(count)jotted while locked; ^D throws away", row: min(jots.count, 3), column: 1, in: area, style: .dim)
      area = area.droppingRows(min(jots.count, 3) + 1)
    }
    let isCovered = dialog != nil || reportView != nil
    screen?.draw(into: &canvas, area: area, isFocused: !isCovered)
    dialog?.prompt.draw(into: &canvas, area: area)
    reportView?.draw(into: &canvas, area: area)
    return canvas
  }

  // MARK: - The hierarchy

  /// Shows a note that was found by a search.
  func open(_ note: Note) {
    root.notes.show(note)
    if let index = root.tabs.firstIndex(where: { $0 === root.notes }) { root.select(index) }
  }

  // MARK: - The device

  /// Locks: preserves, then takes the keys and the picture away.
  func lock() async {
    guard device.hasPasscode else { return say("there is no passcode yet: set one in Settings, then lock") }
    guard lockScreen == nil else { return }
    showLockScreen()
    try? await application.lifecycle.resignActive()
    await preserve()
    device.lock()
  }

  /// Covers everything, if there is a passcode to take the cover away with.
  func showLockScreen() {
    guard device.hasPasscode, lockScreen == nil else { return }
    jot = nil
    dialog = nil
    reportView = nil
    lockScreen = LockScreen()
    onChange()
  }

  /// Tries a passcode.
  ///
  /// The state comes back before this returns.
  @discardableResult
  func unlock(with passcode: String) async -> Bool {
    guard lockScreen != nil else {
      say("the device is not locked")
      return false
    }
    lockScreen?.isChecking = true
    lockScreen?.prompt.message = "Checking…"
    onChange()
    defer { lockScreen?.isChecking = false }
    // What the restoration has to say may come before the unlock returns.
    clearNotice()
    do {
      try await device.unlock(passcode: ProtectedDevice.Passcode(passcode))
    } catch {
      lockScreen?.prompt.clear()
      lockScreen?.prompt.message = error.message
      return false
    }
    // A program that the session has put to sleep restores nothing before it is awake.
    try? await application.lifecycle.enterForeground()
    let report = await application.finishLateRestoration()
    jot = nil
    lockScreen = nil
    // What there is has to be saved before: that says by itself what keeps it.
    if let line = Explanation.line(afterUnlock: report, because: notice) { say(line) }
    try? await application.lifecycle.becomeActive()
    return true
  }

  /// Does what a passcode dialog asks for, once it is filled in.
  func change(_ dialog: PasscodeDialog) async {
    self.dialog?.isWorking = true
    onChange()
    do {
      switch dialog.purpose {
      case .set: try await device.setPasscode(ProtectedDevice.Passcode(dialog.answers[0]))
      case .change:
        try await device.changePasscode(
          from: ProtectedDevice.Passcode(dialog.answers[0]), to: ProtectedDevice.Passcode(dialog.answers[1]))
      case .remove: try await device.removePasscode(ProtectedDevice.Passcode(dialog.answers[0]))
      }
      self.dialog = nil
      root.settings.rowsDidChange()
      say(device.hasPasscode ? "the passcode is set; ^L locks" : "the passcode is removed: nothing locks now")
    } catch {
      self.dialog = nil
      say(error.message)
    }
  }

  /// Does what a row of Settings asks for.
  func perform(_ action: SettingsController.Action) {
    if let first, action != .lock {
      return say("\(first) uses this state: change the passcode there")
    }
    switch action {
    case .setPasscode: dialog = PasscodeDialog(.set)
    case .changePasscode: dialog = PasscodeDialog(.change)
    case .removePasscode: dialog = PasscodeDialog(.remove)
    case .lock: Task { await lock() }
    }
  }

  // MARK: - Preserving and ending

  /// Preserves now and says so in the status line.
  func preserve() async {
    do { _ = try await application.preserve() } catch { say(Explanation.line(for: error)) }
  }

  /// Ends with a last save.
  func quit() async {
    try? await application.lifecycle.terminate()
    onEnd()
  }

  /// Ends by force: everything preserved is forgotten.
  func forget() async {
    if isSecond { return say("this instance preserves nothing, so it has nothing to forget") }
    do {
      try await application.forceQuit()
      onEnd()
    } catch {
      say("not forgotten: \(error)")
    }
  }

  /// Shows how the last save went.
  func didPreserve(_ outcome: PreservationOutcome) {
    switch outcome {
    case .preserved(let receipt):
      let milliseconds = receipt.duration / .milliseconds(1)
      let kind = receipt.kind == .pendingWhole || receipt.kind == .pendingChange ? ", sealed until the unlock" : ""
      saves += 1
      self.receipt =
        "save \(saves) · generation \(receipt.generation) · \(receipt.bytesWritten) bytes · "
        + "\((milliseconds * 10).rounded() / 10) ms\(kind)"
      onChange()
    case .unchanged, .declined, .deferred: break
    }
  }

  /// Shows how a restoration went.
  func didRestore(_ report: RestorationReport) {
    defer { root.notes.missing = [] }
    if let missing = root.notes.missing.last {
      say("\(missing) (^R)")
    } else if let line = Explanation.line(for: report) {
      say(line)
    }
  }

  /// What a snapshot shows: the frame without the notes' text.
  func makeSnapshot() -> String { root.screen?.isSensitive == true ? "" : draw(rows: 24, columns: 80).text }

  /// Shows a snapshot until restoring has ended.
  func show(snapshot text: String?) {
    snapshot = text
    onChange()
  }
}
