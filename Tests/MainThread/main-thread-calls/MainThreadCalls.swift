import CCallCounts
import Foundation
import Observation
import StateRestoration

/// A program that says for each thing that it does how often libcrypto, the disk and its own encoding were called on its main
/// thread, and how often elsewhere.
///
/// usage: main-thread-calls DIRECTORY STEP: one of the steps of ``Scenario``
@main enum MainThreadCalls {
  static func main() {
    let arguments = CommandLine.arguments
    Task { @MainActor in
      do {
        try await Scenario(.directory(arguments[1])).run(arguments[2])
        exit(0)
      } catch {
        print("failed: \(error)")
        exit(1)
      }
    }
    // The main queue has its turns here, and the main actor in them: on this thread and on no other.
    RunLoop.main.run()
  }
}

/// A value whose encoding is counted.
struct Counted: Codable, Sendable, Equatable {
  var text = ""

  init(_ text: String = "") { self.text = text }

  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

  func encode(to encoder: any Encoder) throws {
    call_counts_note(CALL_ENCODE)
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

// MARK: Each way of saying what the state is

@Observable final class Page: RestorableController, StatefulObject {
  let restoration: RestorationIdentity = "page"
  var restorableState = Counted()
}

final class Marked: RestorableController {
  let restoration: RestorationIdentity = "marked"
  @Restored("text") var text = Counted()
}

final class Coded: CodingObject, RestorationViewOwner {
  let restoration: RestorationIdentity = "coded"
  var text = Counted()
  let label = Label()
  var restorationViews: [any RestorableView] { [label] }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decodeIfPresent(Counted.self, forKey: "text") ?? Counted()
  }
}

final class Label: RestorableView, CodingObject {
  let restoration: RestorationIdentity = "label"
  var text = Counted()

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decodeIfPresent(Counted.self, forKey: "text") ?? Counted()
  }
}

final class Window: ContainerController {
  let page = Page()
  let marked = Marked()
  let coded = Coded()
  let value = StoredValue("value", Counted())
  let scope = RestorationScope("scope")
  lazy var scoped = scope.value("scoped", default: Counted())

  init() { super.init("window") }

  override var containedControllers: [any RestorableController] { [page, marked, coded, value, scope] }

  /// Changes everything.
  func type(_ text: String) {
    let text = Counted(text)
    (page.restorableState, marked.text, coded.text, coded.label.text) = (text, text, text, text)
    (value.value, scoped.value) = (text, text)
    coded.invalidateRestorableState()
    coded.label.invalidateRestorableState()
    marked.invalidateRestorableState()
  }

  var texts: [String] {
    [page.restorableState, marked.text, coded.text, coded.label.text, value.value, scoped.value].map(\.text)
  }
}

/// The program's own part.
final class Program: RestorationSessionDelegate {
  var settings = Counted("settings")

  func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encode(settings, forKey: "settings") }
  func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    settings = try coder.decodeIfPresent(Counted.self, forKey: "settings") ?? settings
  }
  func makeSnapshot() -> Data? { Data(repeating: 7, count: 50_000) }
}

// MARK: What is done

@MainActor final class Scenario {
  private let location: ProtectedDevice.Location
  private let program = Program()

  init(_ location: ProtectedDevice.Location) { self.location = location }

  /// Says what was called since the last time.
  private func say(_ step: String) { print("\(step): main \(taken(true)); elsewhere \(taken(false))") }

  private func taken(_ isMain: Bool) -> String {
    let kinds = [
      (CALL_CRYPTO, "crypto"), (CALL_WRITE, "write"), (CALL_NOTE, "note"), (CALL_READ, "read"), (CALL_ENCODE, "encode"),
    ]
    return kinds.map { "\($1) \(call_counts_take($0, isMain))" }.joined(separator: ", ")
  }

  private func require(_ condition: Bool, _ message: String) {
    if !condition { print("wrong: \(message)") }
  }

  func run(_ step: String) async throws {
    call_counts_begin()
    switch step {
    case "first": try await first()
    case "again": try await again()
    case "locked": try await locked()
    case "several": try await several()
    case "windows": try await windows(isFirst: true)
    case "windows-again": try await windows(isFirst: false)
    case "windows-locked": try await windowsLocked()
    default: print("no step \(step)")
    }
  }

  private var configuration: RestorationConfiguration { RestorationConfiguration(application: "calls") }

  private func runSession(_ body: @MainActor (RestorationSession, Window) async throws -> Void) async throws {
    let window = Window()
    try await RestorationSession.run(
      at: location, root: window, configuration: configuration, delegate: program, answering: []
    ) { try await body($0, window) }
    say("end")
  }

  /// A first launch, saves of every kind, the background and a passcode.
  private func first() async throws {
    try await runSession { session, window in
      say("first launch")
      for text in ["one", "two", String(repeating: "x", count: 200_000)] {
        window.type(text)
        try await session.preserve()
        say("save")
      }
      window.type("automatic")
      let before = session.coordinator.lastReceipt
      while session.coordinator.lastReceipt == before { try await Task.sleep(for: .milliseconds(5)) }
      say("automatic save")
      guard let lifecycle = session.application?.lifecycle else { return }
      try await lifecycle.enterBackground()
      say("background and snapshot")
      try await lifecycle.enterForeground()
      say("foreground")
      window.type("pictured no more")
      try await session.preserve()
      say("save that drops the snapshot")
      try await session.device.setPasscode(ProtectedDevice.Passcode("1234"))
      say("passcode")
      window.type("last")
    }
  }

  /// A launch with state.
  private func again() async throws {
    try await runSession { session, window in
      say("locked launch")
      try await session.unlock(passcode: "1234")
      say("unlock")
      require(window.texts == Array(repeating: "last", count: 6), "\(window.texts)")
      require(session.application != nil, "no application")
      session.device.lock(gracePeriod: .zero)
      window.type("while locked")
      _ = try await session.preserve()
      say("save while locked")
      try await session.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      _ = await session.application?.finishLateRestoration()
      say("unlock of an edited hierarchy")
      try await session.device.removePasscode(ProtectedDevice.Passcode("1234"))
      say("passcode removed")
      _ = await session.coordinator.forget(["window", "none"])
      _ = try await session.coordinator.setAsideStates()
      try await session.coordinator.discard()
      window.type("after discarding")
      _ = try await session.preserve()
      say("discard")
    }
  }

  /// A launch with state that can be read.
  private func locked() async throws {
    try await runSession { session, window in
      say("launch")
      require(window.texts == Array(repeating: "after discarding", count: 6), "\(window.texts)")
    }
  }

  /// A program that may run several times.
  private func several() async throws {
    let window = Window()
    try await RestorationSession.run(
      at: location, root: window, configuration: configuration, delegate: program, instances: .several, answering: []
    ) { session in
      say("first launch of several")
      window.type("one")
      try await session.preserve()
      say("save")
      let handle = try session.device.files().create("file", contents: Data("x".utf8), protection: .complete)
      session.application?.manage(handle)
      try await session.application?.lifecycle.resignActive()
      _ = taken(true)
      try await session.application?.lifecycle.becomeActive()
      say("handle opened again")
    }
    say("end")
  }

  private func runWindows(_ body: @MainActor (RestoredWindows<Window>) async throws -> Void) async throws {
    try await RestorationSession.run(
      at: location, windows: { _ in Window() }, configuration: configuration, delegate: program, answering: [], body)
    say("end")
  }

  private func windows(isFirst: Bool) async throws {
    try await runWindows { windows in
      say(isFirst ? "first launch with windows" : "launch with windows")
      if isFirst {
        for name in ["one", "two", "three"] as [RestoredWindow.ID] { try await windows.open(name).type("\(name)") }
        say("open")
      }
      require(windows.roots.count == 3, "\(windows.roots.count) windows")
      require(windows["two"]?.texts.last == "two", "window two")
      windows["one"]?.type("one")
      try await windows.preserve()
      say("save of windows")
      try await windows.activate("one")
      say("activate")
      try await windows.close("two", title: "Two")
      say("close")
      try await windows.reopen()?.type("two")
      say("reopen")
      try await windows.openNew().type("new")
      guard let new = windows.frontmost else { return }
      say("open new")
      try await windows.discard(new.id)
      say("discard of a window")
      let scope = try await windows.openScope()
      scope.value("order", default: Counted()).value = Counted("by name")
      try await windows.preserve()
      say("values of the program")
      if !isFirst {
        try await windows.device.setPasscode(ProtectedDevice.Passcode("1234"))
        say("passcode")
      }
    }
  }

  private func windowsLocked() async throws {
    try await runWindows { windows in
      say("locked launch with windows")
      try await windows.unlock(passcode: "1234")
      say("unlock of windows")
      require(windows.roots.count == 3, "\(windows.roots.count) windows")
    }
  }
}
