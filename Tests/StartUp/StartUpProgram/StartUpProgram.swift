import Foundation
import StateRestoration

/// What the programs of these tests have in common: a draft that a test types, and answers to it.
@MainActor public final class StartUpProgram {
  /// Where the state is kept: below `XDG_STATE_HOME`.
  public static let location = ProtectedDevice.Location.applicationState("com.example.start-up")

  /// What is typed.
  public let draft = StoredValue("draft", "")
  /// The open session.
  public var session: RestorationSession?

  /// Makes a program without a session.
  public init() {}

  /// The configuration; `START_UP_ASKS_EVERY` has the milliseconds after which objects are asked again.
  private func configuration(_ mainLoop: RestorationMainLoop?) -> RestorationConfiguration {
    var configuration = RestorationConfiguration(mainLoop: mainLoop)
    let interval = ProcessInfo.processInfo.environment["START_UP_ASKS_EVERY"].flatMap { Int($0) }
    if let interval { configuration.askingInterval = .milliseconds(interval) }
    return configuration
  }

  /// Opens the session at once, and says what came back.
  public func openNow(_ mainLoop: RestorationMainLoop? = nil) {
    do {
      session = try RestorationSession.openNow(at: Self.location, root: draft, configuration: configuration(mainLoop))
    } catch {
      say("not opened: \(error)")
      exit(1)
    }
    sayDraft()
  }

  /// Opens a session whose root has to be asked for its changes, and has lines set it.
  ///
  /// - Returns: What answers lines.
  public func openSilently(_ mainLoop: RestorationMainLoop) -> (String) -> Bool {
    let draft = SilentDraft()
    do {
      session = try RestorationSession.openNow(at: Self.location, root: draft, configuration: configuration(mainLoop))
    } catch {
      say("not opened: \(error)")
      exit(1)
    }
    say("draft: \(draft.restorableState).")
    return { line in
      draft.restorableState = line
      self.say("typed: \(line).")
      return true
    }
  }

  /// Says what the draft is.
  public func sayDraft() { say("draft: \(draft.value).") }

  /// Answers a line of the test; false when the program is to leave its loop.
  public func answer(_ line: String) -> Bool {
    do {
      switch line {
      case "preserve":
        let outcome = try session?.preserveNow()
        say("outcome: generation \(outcome?.receipt?.generation ?? 0).")
      case "close":
        try session?.closeNow()
        say("closed.")
      case "exit": exit(7)
      case "end": return false
      case _ where line.hasPrefix("passcode "):
        try answer(passcode: line.split(separator: " ").dropFirst().map(String.init))
      default:
        draft.value = line
        say("typed: \(line).")
      }
    } catch {
      say("failed: \(error)")
    }
    return true
  }

  /// Answers a line about passcodes: `set new`, `change old new`, `remove old`, `lock`, `unlock old`.
  private func answer(passcode words: [String]) throws {
    guard let session else { return }
    if session.protectedDataDidChange == nil {
      session.protectedDataDidChange = { [weak self] in self?.say("told: \($0), \(self?.draft.value ?? "").") }
    }
    switch words[0] {
    case "set": try session.device.setPasscodeNow(ProtectedDevice.Passcode(words[1]))
    case "change":
      try session.device.changePasscodeNow(
        from: ProtectedDevice.Passcode(words[1]), to: ProtectedDevice.Passcode(words[2]))
    case "remove": try session.device.removePasscodeNow(ProtectedDevice.Passcode(words[1]))
    case "lock": session.device.lock(gracePeriod: .zero)
    case "elsewhere":
      // As another thread of the program does, or the desktop.
      let (device, passcode) = (session.device, words[1])
      Thread.detachNewThread { try? device.unlockNow(passcode: passcode) }
    default: try session.unlockNow(passcode: words[1])
    }
    say("passcode \(words[0]): \(session.device.isProtectedDataAvailable), \(draft.value).")
  }

  /// Writes a line at once.
  public func say(_ line: String) { writeLine(line) }

  // MARK: - Main loops

  /// Blocks in `poll` for lines and for blocks that are due, if there can be any; returns at the end of the input.
  ///
  /// With the length of a frame, in milliseconds, it draws frames, as a game does, and looks for blocks once in each.
  public func pollLines(
    _ turns: RestorationMainLoop.Pollable?, frame: Int32? = nil, answering answer: ((String) -> Bool)? = nil
  ) {
    let answer = answer ?? self.answer
    var buffer: [UInt8] = []
    while true {
      var descriptors = [pollfd(fd: 0, events: Int16(POLLIN), revents: 0)]
      if let turns, frame == nil { descriptors.append(pollfd(fd: turns.descriptor, events: Int16(POLLIN), revents: 0)) }
      _ = poll(&descriptors, nfds_t(descriptors.count), frame ?? -1)
      turns?.runDueBlocks()
      guard descriptors[0].revents != 0 else { continue }
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(0, &bytes, bytes.count)
      if count <= 0 { return }
      buffer += bytes.prefix(count)
      while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 1)
        if !answer(line) { return }
      }
    }
  }

  /// Reads lines in a thread, and has somebody run the answers on the main thread.
  public nonisolated func readLines(_ perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    Thread.detachNewThread {
      while let line = readLine() {
        perform { MainActor.assumeIsolated { _ = self.answer(line) } }
      }
    }
  }
}

/// A draft whose changes nobody can notice.
public final class SilentDraft: RestorableController, StatefulObject {
  /// Its name.
  public let restoration: RestorationIdentity = "draft"
  /// What is typed.
  public var restorableState = ""

  /// Makes an empty one.
  public init() {}
}

/// Writes a line at once.
func writeLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
