import Foundation
import Observation
import StateRestoration

/// A note, and the notes in it.
@Observable final class Note: RestorationContainer, StatefulObject {
  /// What is preserved.
  struct Contents: Codable, Sendable {
    var text = ""
    /// The class that the user has chosen.
    var protection: ProtectionClass?
  }

  @ObservationIgnored private(set) var restoration: RestorationIdentity
  var text = ""
  var notes: [Note] = []

  /// A note that is there at every launch, with its class; or the window.
  init(_ name: String, _ own: Level?, in notes: [Note] = []) {
    restoration = RestorationIdentity(name, protection: own?.protection)
    self.notes = notes
  }

  /// A note that comes and goes; those of the secret class are secret for ever.
  init(_ name: RestorationIdentifier, tag: RestorationIdentity.ClassTag) {
    restoration = RestorationIdentity(
      name, class: tag, model: ModelIdentifier("model \(name.rawValue)"),
      protection: tag == Self.secretTag ? .complete : nil)
  }

  static let tag: RestorationIdentity.ClassTag = "note"
  static let secretTag = RestorationIdentity.ClassTag(Word.secretTag)

  var name: String { restoration.identifier?.rawValue ?? "" }
  var canChangeClass: Bool { restoration.class == Self.tag }

  /// The class that the user has chosen.
  var own: Level? {
    get { restoration.protection.map(Level.init) }
    set {
      guard canChangeClass else { return }
      restoration.protection = newValue?.protection
      invalidateRestorableState()
    }
  }

  var restorableState: Contents {
    get { Contents(text: text, protection: canChangeClass ? restoration.protection : nil) }
    set {
      text = newValue.text
      if canChangeClass { restoration.protection = newValue.protection }
    }
  }

  var restorationChildren: [any RestorableController] { notes }
  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) { notes = children.arranged(with: notes) }

  /// This note, and all below it.
  var all: [Note] { [self] + notes.flatMap(\.all) }
}

extension Note {
  /// The window, as it is at a launch.
  static func window() -> Note {
    Note(LifeState.window, nil, in: LifeState.fixed.map { Note($0.name, $0.own) })
  }

  /// What it shows; nil when that is no text that the program has written.
  func state(level: Level) -> LifeState? {
    var state = LifeState(level: level)
    (state.notes, state.order) = ([:], [])
    var waiting: [(Note, String?)] = [(self, nil)]
    while !waiting.isEmpty {
      let (note, parent) = waiting.removeFirst()
      guard let number = Word.number(in: note.text) else { return nil }
      state.notes[note.name] = LifeState.Note(
        parent: parent, own: note.own, text: number, length: note.text.utf8.count)
      state.order.append(note.name)
      waiting += note.notes.map { ($0, note.name) }
    }
    return state
  }
}
