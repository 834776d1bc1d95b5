import CGtk

/// A text view that scrolls, mirrored into closures.
final class TextPane {
  let widget: Widget
  private let view: Widget
  private let buffer: UnsafeMutablePointer<GtkTextBuffer>
  /// Whether the program puts state into the widgets, which must not be taken for the user's doing.
  private var isFilling = false
  /// How many times the text was filled and is not laid out yet: until then the view's own scrolling is not the user's.
  private var pendingLayouts = 0

  var onText: (String) -> Void = { _ in }
  var onCaret: (Int) -> Void = { _ in }
  var onTop: (TextPosition) -> Void = { _ in }

  init(name: String) {
    view = Widget(gtk_text_view_new())
    widget = Widget(gtk_scrolled_window_new())
    buffer = gtk_text_view_get_buffer(view.cast())
    gtk_text_view_set_wrap_mode(view.cast(), GTK_WRAP_WORD_CHAR)
    gtk_text_view_set_left_margin(view.cast(), 10)
    gtk_text_view_set_top_margin(view.cast(), 8)
    gtk_widget_set_name(view.pointer, name)
    gtk_scrolled_window_set_child(widget.opaque, view.pointer)
    gtk_widget_set_hexpand(widget.pointer, 1)
    gtk_widget_set_vexpand(widget.pointer, 1)
    gtkConnect(buffer, "changed") { [weak self] in
      if let self, !isFilling { onText(text) }
      return false
    }
    gtkConnect(buffer, "notify::cursor-position") { [weak self] in
      if let self, !isFilling { onCaret(caret) }
      return false
    }
    gtkConnect(gtk_scrolled_window_get_vadjustment(widget.opaque), "value-changed") { [weak self] in
      if let self, pendingLayouts == 0 { onTop(top) }
      return false
    }
  }

  /// Shows a text with a caret and a first visible line, or nothing.
  func fill(_ text: String, caret: Int = 0, top: TextPosition = TextPosition(), isEditable: Bool = true) {
    isFilling = true
    gtk_text_buffer_set_text(buffer, text, -1)
    gtk_text_view_set_editable(view.cast(), isEditable ? 1 : 0)
    var place = GtkTextIter()
    gtk_text_buffer_get_iter_at_offset(buffer, &place, Int32(clamping: caret))
    gtk_text_buffer_place_cursor(buffer, &place)
    isFilling = false
    // Lines have heights only after they were laid out.
    pendingLayouts += 1
    afterLayout(of: view) { [weak self] in
      guard let self else { return }
      defer { pendingLayouts -= 1 }
      if top.character + top.pixels > 0 {
        var first = GtkTextIter()
        gtk_text_buffer_get_iter_at_offset(buffer, &first, Int32(clamping: top.character))
        gtk_text_view_scroll_to_iter(view.cast(), &first, 0, 1, 0, 0)
        let adjustment = gtk_scrolled_window_get_vadjustment(widget.opaque)
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + Double(top.pixels))
      }
    }
  }

  func focus() { gtk_widget_grab_focus(view.pointer) }

  private var text: String {
    var (start, end) = (GtkTextIter(), GtkTextIter())
    gtk_text_buffer_get_bounds(buffer, &start, &end)
    guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
    defer { g_free(text) }
    return String(cString: text)
  }

  private var caret: Int {
    var place = GtkTextIter()
    gtk_text_buffer_get_iter_at_mark(buffer, &place, gtk_text_buffer_get_insert(buffer))
    return Int(gtk_text_iter_get_offset(&place))
  }

  private var top: TextPosition {
    var visible = GdkRectangle()
    gtk_text_view_get_visible_rect(view.cast(), &visible)
    var place = GtkTextIter()
    var lineTop: Int32 = 0
    gtk_text_view_get_line_at_y(view.cast(), &place, visible.y, &lineTop)
    return TextPosition(character: Int(gtk_text_iter_get_offset(&place)), pixels: Int(visible.y - lineTop))
  }
}
