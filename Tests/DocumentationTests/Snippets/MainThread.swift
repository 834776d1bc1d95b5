import Foundation
import StateRestoration

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
  let turns = PollableRestorationMainLoop()
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
@MainActor func play(_ turns: PollableRestorationMainLoop, drawFrame: () -> Bool) {
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

/// A terminal in raw mode.
protocol Terminal: Sendable {
  func restore()
}

// snippet: WillEnd
@MainActor func giveBack(_ terminal: some Terminal, after session: RestorationSession) {
  session.willEnd = { _ in terminal.restore() }
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
