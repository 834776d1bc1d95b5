import CGtk
import DesktopSession
import Foundation
import StateRestoration

/// The program: opens the device, owns the windows, and answers the framework.
final class Program {
  private let arguments: Arguments
  private let root = RootController()
  private let lockPage = LockPage()
  private let log: RestorationLog?
  private var device: ProtectedDevice?
  private var coordinator: RestorationCoordinator?
  private var application: RestorableApplication?
  private var session: DesktopSessionDriver?
  private var main: MainWindow?
  private var scratch: ScratchWindow?
  private var onEnd: () -> Void = {}
  private var isCovered = false

  init(_ arguments: Arguments) {
    self.arguments = arguments
    log = arguments.log.flatMap(RestorationLog.file(at:))
  }

  /// Opens everything; the windows are there, and filled, when this returns.
  func launch(onEnd: @escaping () -> Void) async throws {
    self.onEnd = onEnd
    var deviceOptions = ProtectedDevice.Options()
    deviceOptions.gracePeriod = .zero
    let location = arguments.state.map { ProtectedDevice.Location.directory($0) } ?? .applicationState("gtk-notes")
    let device = try await ProtectedDevice.open(at: location, options: deviceOptions)
    var configuration = RestorationConfiguration(application: "gtk-notes", applicationVersion: "1.0")
    if let log { configuration.log = log }
    let coordinator = try RestorationCoordinator(device: device, delegate: self, configuration: configuration)
    coordinator.registry.register(ScratchWindowController.self, as: ScratchWindowController.tag) { _, _ in
      ScratchWindowController()
    }
    let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: self)
    (self.device, self.coordinator, self.application) = (device, coordinator, application)
    makeMainWindow()
    try await application.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(300))

    var options = DesktopSessionDriver.Options(applicationName: "Notes")
    if let log { options.log = log }
    let session = DesktopSessionDriver(
      application: application, device: device, options: options, onEnd: { [weak self] _ in self?.onEnd() })
    session.start()
    self.session = session
  }

  private var isLocked: Bool { device.map { $0.hasPasscode && $0.lockState != .unlocked } ?? true }

  // MARK: - Windows

  private func makeMainWindow() {
    guard let notes = root.notes else { return }
    let window = MainWindow(root.main, notes, folder: NoteFolder(path: arguments.folder), lockPage: lockPage)
    window.addButton("Save") { [weak self] in
      if let self, !isCovered { try? main?.save() }
    }
    window.addButton("Scratch") { [weak self] in self?.openScratch() }
    window.addButton("Lock") { [weak self] in Task { await self?.lock() } }
    window.addButton("New") { [weak self] in
      if let self, !isCovered { main?.openNewNote() }
    }
    window.window.connect("close-request") { [weak self] in
      // The window stays until everything is preserved.
      Task { await self?.quit() }
      return true
    }
    lockPage.onPasscode = { [weak self] passcode in Task { await self?.take(passcode) } }
    main = window
  }

  /// Shows what the controllers have, in as many windows as they say.
  private func show() {
    isCovered = isLocked
    if isCovered { return cover("Locked") }
    main?.fill()
    main?.showLockPage(false)
    main?.place()
    main?.present()
    if root.scratch != nil { openScratch() }
  }

  /// Takes all content away.
  private func cover(_ text: String) {
    isCovered = true
    lockPage.say(text)
    main?.empty()
    main?.showLockPage(true)
    main?.present()
    lockPage.focus()
    scratch?.empty()
    scratch?.showLockPage(true)
  }

  private func openScratch() {
    guard !isCovered else { return }
    let controller = root.scratch ?? ScratchWindowController()
    guard let page = controller.page else { return }
    if root.scratch == nil { root.scratch = controller }
    if scratch == nil {
      scratch = ScratchWindow(controller, page) { [weak self] in
        self?.root.scratch = nil
        self?.scratch = nil
      }
      scratch?.place()
    }
    scratch?.fill()
    scratch?.showLockPage(false)
    scratch?.present()
  }

  // MARK: - Locking

  private func lock() async {
    guard let device, !isCovered else { return }
    guard device.hasPasscode else { return cover("Choose a passcode") }
    cover("Locked")
    try? await application?.lifecycle.resignActive()
    _ = try? await application?.preserve()
    device.lock()
  }

  private func take(_ passcode: String) async {
    guard let device, let application else { return }
    do {
      if device.hasPasscode {
        let wasRestored = application.report.map { $0.outcome != .locked } ?? false
        try await device.unlock(passcode: ProtectedDevice.Passcode(passcode))
        try? await application.lifecycle.enterForeground()
        try? await application.lifecycle.becomeActive()
        // Objects that were locked at the launch are restored late, and shown then.
        if wasRestored { show() }
      } else {
        try await device.setPasscode(ProtectedDevice.Passcode(passcode))
        show()
      }
    } catch {
      lockPage.say(error.message)
    }
  }

  private func quit() async {
    try? await application?.lifecycle.terminate()
    onEnd()
  }
}

extension Program: RestorableApplicationDelegate {
  var rootController: (any RestorableController)? { root }

  func showWindow() { show() }

  /// The screen is locked, or the machine sleeps.
  func hideWindow() { if device?.hasPasscode == true { cover("Locked") } }
}

extension Program: RestorationCoordinatorDelegate {
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  /// Somebody who kills the program wants the state back all the same.
  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision {
    .tryAgain
  }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) { show() }
}
