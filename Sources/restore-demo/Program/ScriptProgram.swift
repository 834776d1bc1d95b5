import Foundation
import StateRestoration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The same program without a terminal: a script types the keys, and the screen is printed as text.
@MainActor final class ScriptProgram {
  /// A command of the script that did not do what it says.
  struct Failure: Error, CustomStringConvertible {
    var line: Int
    var description: String
  }

  private let application: DemoApplication
  private let script: Script
  private var rows = 24
  private var columns = 80
  private var hasEnded = false

  init(application: DemoApplication, script: Script) {
    self.application = application
    self.script = script
  }

  /// Runs the script to its end, or until a command fails or ends the program.
  func run() async throws {
    application.onEnd = { [weak self] in self?.hasEnded = true }
    _ = application.draw(rows: rows, columns: columns)
    try await application.launch()
    for (line, command) in script.commands {
      if let problem = await perform(command) { throw Failure(line: line, description: problem) }
      // Drawing is what lets lists and editors know how much room they have.
      _ = application.draw(rows: rows, columns: columns)
      if hasEnded { return }
    }
    await application.quit()
  }

  /// Performs a command.
  ///
  /// - Returns: The failure; nil if there is none.
  private func perform(_ command: Script.Command) async -> String? {
    switch command {
    case .text(let text): for character in text { await application.handle(.character(character)) }
    case .key(let key): await application.handle(key)
    case .waitPreserved: return await waitUntilPreserved()
    // A script is a person: a wrong passcode is something that the screen shows, and the script goes on.
    case .lock: await application.lock()
    case .unlock(let passcode): await application.unlock(with: passcode)
    case .background: return await request { try await $0.enterBackground() }
    case .foreground: return await request { try await $0.enterForeground() }
    case .resize(let rows, let columns): (self.rows, self.columns) = (rows, columns)
    case .screen: output(application.draw(rows: rows, columns: columns).text)
    case .report: output(application.report?.description ?? "Nothing was restored in this run.")
    case .status: output(application.status)
    case .forceQuit: await application.forget()
    case .crash: abort()
    case .kill: kill(getpid(), SIGKILL)
    case .quit: await application.quit()
    }
    return nil
  }

  private func waitUntilPreserved() async -> String? {
    application.clearNotice()
    do {
      switch try await application.application.preserve() {
      case .preserved(let receipt)?: return receipt.durability == .durable ? nil : "the disk did not confirm the save"
      case .unchanged?: return nil
      case .declined?: return "this instance preserves nothing"
      case .deferred?: return "locked: nothing was preserved"
      case nil: return "there is nothing to preserve"
      }
    } catch {
      return Explanation.line(for: error)
    }
  }

  private func request(_ body: (Lifecycle) async throws -> Void) async -> String? {
    let lifecycle = application.application.lifecycle
    do { try await body(lifecycle) } catch { return "\(error)" }
    return nil
  }

  private func output(_ text: String) {
    // Where nobody listens the script goes on all the same.
    try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
  }
}
