import Dispatch
import Foundation
import StateRestoration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program on a real terminal: a thread reads keys, a stream brings them to the main actor, which draws.
@MainActor final class TerminalProgram {
  /// The events of a terminal.
  private enum Event: Sendable {
    case keys([Key])
    case resized
    case terminalGone
    case ended
  }

  private let application: DemoApplication
  private let session: TerminalSession
  private var renderer = Renderer()
  private var desktop: DesktopFollower?

  init(application: DemoApplication, session: TerminalSession) {
    self.application = application
    self.session = session
  }

  /// Has the desktop session drive the program too, from its launch on.
  func followDesktop(log: RestorationLog) {
    desktop = DesktopFollower(application: application, log: log)
  }

  /// Runs until the user quits or a signal ends the program.
  func run() async throws {
    let (events, sender) = AsyncStream.makeStream(of: Event.self)
    application.onChange = { [weak self] in self?.draw() }
    application.onEnd = { sender.yield(.ended) }
    application.onWindow = { [weak self] isShown in
      guard let self else { return }
      if isShown {
        session.enter()
        renderer.invalidate()
        draw()
      } else {
        session.leave()
      }
    }
    let resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
    resizes.setEventHandler { @Sendable in sender.yield(.resized) }
    resizes.activate()
    defer { session.leave() }

    // A signal must give back the terminal from the moment it is taken.
    application.application.answerSignals { [session] _ in session.leave() }
    session.enter()
    draw()
    try await application.launch()
    desktop?.start { sender.yield(.ended) }
    _ = KeyReader(
      onKeys: { @Sendable in sender.yield(.keys($0)) }, onEnd: { @Sendable in sender.yield(.terminalGone) })
    draw()
    for await event in events {
      switch event {
      case .keys(let keys):
        for key in keys {
          if key == .control("z") { kill(getpid(), SIGTSTP) } else { await application.handle(key) }
        }
        draw()
      case .resized:
        renderer.invalidate()
        draw()
      case .terminalGone: await application.quit()
      case .ended: return
      }
    }
  }

  private func draw() {
    guard session.isEntered else { return }
    let size = session.size
    session.write(renderer.bytes(for: application.draw(rows: size.rows, columns: size.columns)))
  }
}
