import Foundation
import StateRestoration
import Testing

enum MainThreadSnippets {
  @MainActor static func open() throws {
    // snippet: OpenNow
    let draft = StoredValue("draft", "")
    let session = try RestorationSession.openNow(
      at: .applicationState("com.example.draft"), root: draft,
      configuration: RestorationConfiguration(mainLoop: .gLib))
    print(draft.value)
    // snippet end
    try session.closeNow()
  }
}

// snippet: PollingLoop
@MainActor func edit(_ draft: StoredValue<String>) throws {
  let turns = RestorationMainLoop.Pollable()
  let session = try RestorationSession.openNow(
    at: .applicationState("com.example.draft"), root: draft,
    configuration: RestorationConfiguration(mainLoop: turns.mainLoop))
  while true {
    var descriptors = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: turns.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    unsafe poll(&descriptors, 2, -1)
    turns.runDueBlocks()
    guard descriptors[0].revents != 0 else { continue }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else { break }
    draft.value += String(decoding: bytes.prefix(count), as: UTF8.self)
  }
  try session.closeNow()
}
// snippet end

// snippet: FrameLoop
@MainActor func play(_ turns: RestorationMainLoop.Pollable, drawFrame: () -> Bool) {
  while drawFrame() { turns.runDueBlocks() }
}
// snippet end

/// A toolkit with a main loop of its own.
protocol Toolkit: Sendable {
  func post(_ block: @escaping @Sendable () -> Void)
  func start()
}

// snippet: OwnLoop
@MainActor func configuration(of toolkit: some Toolkit) -> RestorationConfiguration {
  RestorationConfiguration(mainLoop: RestorationMainLoop { block in toolkit.post(block) })
}
// snippet end

/// A class of a toolkit, which says nothing of actors.
class Widget {
  func insert(_ typed: String) {}
}

// snippet: WidgetOfAToolkit
final class NoteView: Widget {
  let text: StoredValue<String>

  init(_ text: StoredValue<String>) { self.text = text }

  override func insert(_ typed: String) {
    let text = text  // the closure must not take `self` along
    MainActor.assumeIsolated { text.value += typed }
  }
}
// snippet end

/// A terminal in raw mode.
protocol Terminal: Sendable {
  func enterRawMode()
  func restore()
}

// snippet: WillEnd
@MainActor func giveBack(_ terminal: some Terminal, after session: RestorationSession) {
  session.willEnd = { _ in terminal.restore() }
}
// snippet end

// snippet: StopAndResume
@MainActor func share(
  _ terminal: some Terminal, with session: RestorationSession, redraw: @escaping @MainActor () -> Void
) {
  session.willStop = { terminal.restore() }
  session.didResume = {
    terminal.enterRawMode()
    redraw()
  }
}

/// In raw mode Ctrl-Z is no signal, but the byte 26: send the signal that the terminal would have sent.
func userTyped(_ byte: UInt8) {
  if byte == 26 { kill(0, SIGTSTP) }
}
// snippet end

// snippet: RetryLeftOut
@MainActor func offerLeftOut(
  of session: RestorationSession, in root: some RestorableController, ask: ([RestorationPath]) -> Bool
) throws {
  let leftOut = session.report.notRestored.filter { $0.notRestoredReason == .leftOutAfterCrash }.map(\.path)
  guard !leftOut.isEmpty, ask(leftOut) else { return }
  try session.coordinator.restoreNow(into: root, retriesLeftOut: true)
}
// snippet end

// snippet: WindowsNow
@MainActor func openPages(_ toolkit: some Toolkit) throws -> RestoredWindows<StoredValue<String>> {
  let windows = try RestorationSession.openNow(
    at: .applicationState("com.example.pages"), windows: { _ in StoredValue("text", "") },
    configuration: RestorationConfiguration(mainLoop: RestorationMainLoop { block in toolkit.post(block) }))
  if windows.roots.isEmpty { try windows.openNewNow() }
  return windows
}
// snippet end

/// A window that shows the program's widgets, or asks for a passcode.
@MainActor protocol CoverableWindow: AnyObject {
  func fill()
  func cover(asking question: String)
}

// snippet: LockScreen
@MainActor final class LockScreen {
  private let session: RestorationSession
  private let window: any CoverableWindow

  init(_ session: RestorationSession, over window: some CoverableWindow) {
    (self.session, self.window) = (session, window)
    // The desktop, or another thread, may lock and unlock as well.
    session.protectedDataDidChange = { [weak self] _ in self?.show() }
    show()
  }

  func show(_ question: String = "Passcode:") {
    if session.device.lockState == .unlocked { window.fill() } else { window.cover(asking: question) }
  }

  func lock() { session.device.lock() }

  func answer(_ passcode: String) {
    do throws(RestorationError) {
      try session.unlockNow(passcode: passcode)
      show()
    } catch {
      guard let delay = error.retryDelay, delay > .zero else { return show("Not right:") }
      show("Not right, wait \(max(delay.components.seconds, 1)) s:")
    }
  }
}
// snippet end

// snippet: SetPasscodeNow
@MainActor func choose(_ passcode: String, in session: RestorationSession) throws {
  try session.device.setPasscodeNow(ProtectedDevice.Passcode(passcode))
}
// snippet end

/// Says what a window shows, one after the other.
@MainActor private final class ShownWindow: CoverableWindow {
  private let text: StoredValue<String>
  private let (shown, continuation) = AsyncStream.makeStream(of: String.self)

  init(_ text: StoredValue<String>) { self.text = text }

  func fill() { continuation.yield("text: \(text.value)") }
  func cover(asking question: String) { continuation.yield(question) }

  /// Waits until it has shown something else than before.
  func next() async -> String? {
    for await text in shown { return text }
    return nil
  }
}

@MainActor struct LockScreenTests {
  @Test func `the lock screen of the article covers the window, and shows it after the right passcode`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lock-screen-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = StoredValue("text", "")
    let session = try RestorationSession.openNow(
      at: .directory(folder.path), root: text, configuration: RestorationConfiguration(), answering: [])
    NoteView(text).insert("mine")
    let window = ShownWindow(text)
    let screen = LockScreen(session, over: window)
    #expect(await window.next() == "text: mine")
    try choose("1234", in: session)
    screen.lock()
    #expect(await window.next() == "Passcode:")
    screen.answer("4321")
    #expect(await window.next() == "Not right:")
    screen.answer("1234")
    #expect(await window.next() == "text: mine")
    // The session tells of it as well.
    #expect(await window.next() == "text: mine")
    session.device.lock(gracePeriod: .zero)
    #expect(await window.next() == "Passcode:")
    let device = session.device
    try await device.unlock(passcode: "1234")
    #expect(await window.next() == "text: mine")
    try session.closeNow()
  }
}

// snippet: RunWithLoop
@MainActor func begin(_ draft: StoredValue<String>, _ application: some Toolkit) async throws {
  let configuration = RestorationConfiguration(mainLoop: RestorationMainLoop { block in application.post(block) })
  try await RestorationSession.run(
    at: .applicationState("com.example.draft"), root: draft, configuration: configuration
  ) { _ in
    application.start()
  }
}
// snippet end
