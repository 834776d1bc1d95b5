import CGtk
import StateRestoration

/// The main window: the list of notes and the editor, mirrored into `NotesController`.
final class MainWindow: AppWindow {
  private let folder: NoteFolder
  private let notes: NotesController
  private let list = Widget(gtk_list_box_new())
  private let listScroll = Widget(gtk_scrolled_window_new())
  private let editor = TextPane(name: "editor")
  private var names: [String] = []
  /// What the open note's file has.
  private var saved = ""
  /// Whether the program puts state into the list, or has taken it out: neither is the user's doing.
  private var isFilling = false
  private var pendingLayouts = 0

  init(_ controller: WindowController, _ notes: NotesController, folder: NoteFolder, lockPage: LockPage) {
    self.notes = notes
    self.folder = folder
    let paned = Widget(gtk_paned_new(GTK_ORIENTATION_HORIZONTAL))
    gtk_scrolled_window_set_child(listScroll.opaque, list.pointer)
    gtk_widget_set_size_request(listScroll.pointer, 180, -1)
    gtk_paned_set_start_child(paned.opaque, listScroll.pointer)
    gtk_paned_set_position(paned.opaque, 190)
    gtk_paned_set_end_child(paned.opaque, editor.widget.pointer)
    super.init(controller, title: "Notes", content: paned, lockPage: lockPage.widget)
    list.connect("row-selected") { [weak self] in
      self?.select()
      return false
    }
    gtkConnect(gtk_scrolled_window_get_vadjustment(listScroll.opaque), "value-changed") { [weak self] in
      if let self, !isFilling, pendingLayouts == 0 {
        notes.listTop = gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(listScroll.opaque))
      }
      return false
    }
    editor.onText = { [weak self] text in
      guard let self, let name = notes.selection else { return }
      notes.drafts[name] = text == saved ? nil : text
      showTitle()
    }
    editor.onCaret = { if let name = notes.selection { notes.carets[name] = $0 } }
    editor.onTop = { if let name = notes.selection { notes.tops[name] = $0 } }
  }

  /// Shows what the controller has.
  func fill() {
    isFilling = true
    clearList()
    names = folder.names
    for name in names {
      let label = Widget(gtk_label_new(name))
      gtk_label_set_xalign(label.opaque, 0)
      gtk_list_box_append(list.opaque, label.pointer)
    }
    if let name = notes.selection, let index = names.firstIndex(of: name) {
      gtk_list_box_select_row(list.opaque, gtk_list_box_get_row_at_index(list.opaque, Int32(index)))
    }
    showNote()
    if notes.selection != nil { editor.focus() }
    isFilling = false
    let top = notes.listTop
    pendingLayouts += 1
    afterLayout(of: list) { [weak self] in
      guard let self else { return }
      gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(listScroll.opaque), top)
      pendingLayouts -= 1
    }
  }

  /// Takes everything out of the widgets, so that neither the screen nor a screen reader has it while locked.
  func empty() {
    isFilling = true
    clearList()
    editor.fill("", isEditable: false)
    gtk_window_set_title(window.cast(), "Notes")
  }

  /// Writes the draft into its file.
  func save() throws {
    guard let name = notes.selection, let draft = notes.drafts[name] else { return }
    try folder.write(draft, to: name)
    saved = draft
    notes.drafts[name] = nil
    showTitle()
  }

  private func clearList() {
    while let row = gtk_list_box_get_row_at_index(list.opaque, 0) {
      gtk_list_box_remove(list.opaque, UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkWidget.self))
    }
  }

  private func select() {
    guard !isFilling, let row = gtk_list_box_get_selected_row(list.opaque) else { return }
    let index = Int(gtk_list_box_row_get_index(row))
    guard names.indices.contains(index), names[index] != notes.selection else { return }
    notes.selection = names[index]
    showNote()
  }

  private func showNote() {
    guard let name = notes.selection, names.contains(name) else { return editor.fill("", isEditable: false) }
    saved = folder.text(of: name)
    editor.fill(
      notes.drafts[name] ?? saved, caret: notes.carets[name] ?? 0, top: notes.tops[name] ?? TextPosition())
    showTitle()
  }

  private func showTitle() {
    let name = notes.selection ?? ""
    gtk_window_set_title(window.cast(), "\(name)\(notes.drafts[name] == nil ? "" : " •") – Notes")
  }
}
