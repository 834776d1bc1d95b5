// A diary with a passcode, in a terminal. Kill it at any time, and start it again.
// commands: new · lock · on the lock screen new, or the passcode
import Foundation
import Observation
import StateRestoration

/// An entry is an object of its own, so that one that is written while the device is locked replaces nothing.
final class Entry: RestorableController {
  let restoration: RestorationIdentity
  @Restored("text") var text = ""

  init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier, class: "entry") }
}

/// All entries, in the order of their identifiers.
@Observable final class Diary: RestorationContainer {
  let restoration: RestorationIdentity = "diary"
  private(set) var entries: [Entry] = []

  var restorationChildren: [any RestorableController] { entries }

  func restorationRole(of child: any RestorableController) -> RestorationRole? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) {
    entries = children.arranged(with: entries)
    entries.sort { ($0.restoration.identifier ?? "") < ($1.restoration.identifier ?? "") }
  }

  func add(_ entry: Entry) { entries.append(entry) }
}

let diary = Diary()
let registry = RestorationRegistry()
registry.register(Entry.self, as: "entry") { path, _ in path.last.map(Entry.init) }

@MainActor func ask(_ question: String) async -> String? {
  print(question)
  return await Task.detached { readLine() }.value
}

/// Adds an empty entry first: its text is then a change, which is saved even while the device is locked.
@MainActor func write() async {
  let entry = Entry("\(Date.now.timeIntervalSince1970)")
  diary.add(entry)
  entry.text = await ask("Dear diary,") ?? ""
}

/// Asks for the passcode, and writes entries meanwhile; nil when the input ends.
@MainActor func passcode(_ prompt: RestorationSession.PasscodePrompt) async -> String? {
  while let text = await ask("\(prompt)Passcode:") {
    if text != "new" { return text }
    await write()
  }
  return nil
}

try await RestorationSession.run(at: .applicationState("com.example.diary"), root: diary, registry: registry) {
  session in
  let device = session.device
  while !device.hasPasscode, let text = await ask("Choose a passcode:") {
    if !text.isEmpty { try await device.setPasscode(DevicePasscode(text)) }
  }
  while try await session.unlock(asking: passcode) {
    for entry in diary.entries { print("  " + entry.text) }
    while device.isProtectedDataAvailable {
      switch await ask("new or lock?") {
      case "new": await write()
      case "lock": device.lock(gracePeriod: .zero)
      case nil: return
      default: break
      }
    }
  }
}
