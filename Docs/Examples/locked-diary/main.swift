// A diary with a passcode, in a terminal. Kill it at any time, and start it again.
// commands: new · lock · on the lock screen new, or the passcode
import Foundation
import Observation
import StateRestoration

/// The text of an entry: only the passcode opens it.
@Observable final class Page: RestorableView, StatefulObject {
  let restoration = RestorationIdentity("page", protection: .complete)
  var restorableState = ""
}

/// An entry is an object of its own, so that one that is written while the device is locked replaces nothing.
///
/// That there is one can be seen on a locked device.
final class Entry: RestorationViewOwner {
  let restoration: RestorationIdentity
  let page = Page()
  var restorationViews: [any RestorableView] { [page] }
  var text: String { page.restorableState }

  init(_ number: RestorationIdentifier) { restoration = RestorationIdentity(number, class: "entry") }
}

/// All entries.
@Observable final class Diary: ContainerController {
  private(set) var entries: [Entry] = []

  override var containedControllers: [any RestorableController] { entries }

  override func install(_ children: [RestoredChild]) { entries = children.arranged(with: entries) }

  func add(_ entry: Entry) { entries.append(entry) }
}

let diary = Diary("diary")
let registry = RestorationRegistry()
registry.register(Entry.self, as: "entry") { path, _ in path.last.map(Entry.init) }

@MainActor func ask(_ question: String) async -> String? {
  print(question)
  return await Task.detached { readLine() }.value
}

/// Adds an empty entry first: its text is then a change, which is saved even while the device is locked.
@MainActor func write() async {
  let entry = Entry(RestorationIdentifier("\(diary.entries.count + 1)"))
  diary.add(entry)
  entry.page.restorableState = await ask("Dear diary,") ?? ""
}

/// Prints all entries, with their texts once these can be read.
@MainActor func show() {
  for entry in diary.entries {
    print("  \(entry.restoration.identifier ?? ""): \(entry.text.isEmpty ? "···" : entry.text)")
  }
}

/// Asks for the passcode, and writes entries meanwhile; nil when the input ends.
@MainActor func passcode(_ prompt: RestorationSession.PasscodePrompt) async -> String? {
  show()
  while let text = await ask("\(prompt)Passcode:") {
    if text != "new" { return text }
    await write()
  }
  return nil
}

// What names no class of its own can always be read: that there are entries.
var configuration = RestorationConfiguration()
configuration.protection = .none

try await RestorationSession.run(
  at: .applicationState("com.example.diary"), root: diary, registry: registry, configuration: configuration
) { session in
  let device = session.device
  while !device.hasPasscode, let text = await ask("Choose a passcode:") {
    if !text.isEmpty { try await device.setPasscode(ProtectedDevice.Passcode(text)) }
  }
  while try await session.unlock(asking: passcode) {
    show()
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
