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
    window.connect("notify::focus-widget") { [weak self] in
      self?.noteFocus()
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

  /// Shows what the controller has; in a folder without notes a new one, so that there is something to type in.
  func fill() {
    if folder.names.isEmpty, notes.unsaved.isEmpty { addNote() }
    isFilling = true
    clearList()
    names = Set(folder.names + notes.unsaved).sorted()
    for name in names {
      let label = Widget(gtk_label_new(name))
      gtk_label_set_xalign(label.opaque, 0)
      gtk_list_box_append(list.opaque, label.pointer)
    }
    if let name = notes.selection, let index = names.firstIndex(of: name) {
      gtk_list_box_select_row(list.opaque, gtk_list_box_get_row_at_index(list.opaque, Int32(index)))
    }
    showNote()
    restoreFocus()
    isFilling = false
    let top = notes.listTop
    pendingLayouts += 1
    afterLayout(of: list) { [weak self] in
      guard let self else { return }
      gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(listScroll.opaque), top)
      pendingLayouts -= 1
    }
  }

  /// Opens a new note; its file comes when it is saved.
  func openNewNote() {
    addNote()
    notes.focus = .editor
    fill()
  }

  private func addNote() {
    let taken = Set(folder.names + notes.unsaved)
    var number = 1
    while taken.contains("Note \(number).txt") { number += 1 }
    notes.unsaved.append("Note \(number).txt")
    notes.selection = notes.unsaved.last
  }

  private func noteFocus() {
    guard !isFilling, let focus = gtk_window_get_focus(window.cast()) else { return }
    if gtk_widget_is_ancestor(focus, listScroll.pointer) != 0 {
      notes.focus = .list
    } else if gtk_widget_is_ancestor(focus, editor.widget.pointer) != 0 {
      notes.focus = .editor
    }
  }

  private func restoreFocus() {
    switch (notes.focus, gtk_list_box_get_selected_row(list.opaque)) {
    case (.list, let row?): gtk_widget_grab_focus(UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkWidget.self))
    default: editor.focus()
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
    guard let name = notes.selection, notes.drafts[name] != nil || notes.unsaved.contains(name) else { return }
    let text = notes.drafts[name] ?? saved
    try folder.write(text, to: name)
    saved = text
    notes.drafts[name] = nil
    notes.unsaved.removeAll { $0 == name }
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
    let isSaved = notes.drafts[name] == nil && !notes.unsaved.contains(name)
    gtk_window_set_title(window.cast(), "\(name)\(isSaved ? "" : " •") – Notes")
  }
}
