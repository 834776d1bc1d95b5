import CGtk

/// A label and a field for a passcode; nothing else of the program is shown beside it.
final class LockPage {
  let widget = Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 12))
  private let label = Widget(gtk_label_new("Locked"))
  private let entry = Widget(gtk_password_entry_new())

  /// Called with the passcode that was typed.
  var onPasscode: (String) -> Void = { _ in }

  init() {
    gtk_widget_set_halign(widget.pointer, GTK_ALIGN_CENTER)
    gtk_widget_set_valign(widget.pointer, GTK_ALIGN_CENTER)
    gtk_box_append(widget.cast(), label.pointer)
    gtk_box_append(widget.cast(), entry.pointer)
    gtk_password_entry_set_show_peek_icon(entry.opaque, 1)
    entry.connect("activate") { [weak self] in
      guard let self, let text = gtk_editable_get_text(entry.opaque) else { return false }
      let passcode = String(cString: text)
      gtk_editable_set_text(entry.opaque, "")
      if !passcode.isEmpty { onPasscode(passcode) }
      return false
    }
  }

  func say(_ text: String) { gtk_label_set_text(label.opaque, text) }
  func focus() { gtk_widget_grab_focus(entry.pointer) }
}
