import StateRestoration

/// The sheet that asks for a note's new name.
///
/// It comes back with its text, and its result reaches the presenter. What is typed into it only the passcode opens.
@MainActor final class RenameController: PresentableController, Screen {
  /// The tag under which the sheet is registered.
  static let tag: RestorationIdentity.ClassTag = "rename"
  /// The sheet's name below its presenter.
  static let identifier: RestorationIdentifier = "rename"

  /// What the sheet ends with.
  struct Answer {
    var note: ModelIdentifier
    var name: String
  }

  let restoration = RestorationIdentity(
    RenameController.identifier, class: RenameController.tag, protection: .complete)
  var presentation: ContainerController.Presentation?

  /// The note that gets the name.
  @Restored("note") private(set) var note: ModelIdentifier = ""
  @Restored("name") private var name = ""
  @Restored("caret") private var caret = 0

  init(note: Note) {
    self.note = note.identity.modelIdentifier
    name = note.name
    caret = note.name.count
  }

  var title: String { "Rename" }

  var hints: [Hint] { [Hint("⏎", "rename"), Hint("Esc", "cancel")] }

  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool) {
    let width = min(60, area.columns)
    let box = Canvas.Rectangle(
      row: area.row + max((area.rows - 4) / 3, 0), column: area.column + (area.columns - width) / 2,
      rows: min(4, area.rows), columns: width)
    let inside = canvas.frame(box, title: title)
    canvas.draw("New name:", row: 0, column: 1, in: inside, style: .dim)
    let before = String(Array(name).prefix(caret))
    let shift = max(DisplayWidth.of(before) - inside.columns + 3, 0)
    canvas.draw(name, row: 1, column: 1 - shift, in: inside)
    if isFocused { canvas.cursor = (inside.row + 1, inside.column + 1 - shift + DisplayWidth.of(before)) }
  }

  func handle(_ key: Key) -> Bool {
    switch key {
    case .enter: presentation?.finish(with: Answer(note: note, name: name))
    case .escape: presentation?.cancel()
    default:
      var buffer = TextBuffer(name, caret: caret)
      guard buffer.editLine(with: key) else { return false }
      if buffer.text != name { name = buffer.text }
      caret = buffer.caret
    }
    return true
  }
}
