import CGtk
import StateRestoration

/// A window with a page for its content and one for the lock, mirrored into its controller.
class AppWindow {
  let window = Widget(gtk_window_new())
  let header = Widget(gtk_header_bar_new())
  private let stack = Widget(gtk_stack_new())
  private weak var controller: WindowController?

  init(_ controller: WindowController, title: String, content: Widget, lockPage: Widget) {
    self.controller = controller
    gtk_window_set_title(window.cast(), title)
    gtk_window_set_titlebar(window.cast(), header.pointer)
    gtk_stack_add_named(stack.opaque, content.pointer, "content")
    gtk_stack_add_named(stack.opaque, lockPage.pointer, "lock")
    gtk_window_set_child(window.cast(), stack.pointer)
    gtk_window_set_default_size(window.cast(), 640, 420)
    for signal in ["notify::default-width", "notify::default-height", "notify::maximized", "notify::fullscreened"] {
      window.connect(signal) { [weak self] in
        self?.note()
        return false
      }
    }
  }

  /// Gives the window the size and the state that its controller has.
  func place() {
    guard let controller else { return }
    if let size = controller.size { gtk_window_set_default_size(window.cast(), Int32(size.width), Int32(size.height)) }
    switch controller.shownState {
    case .maximized: gtk_window_maximize(window.cast())
    case .fullScreen: gtk_window_fullscreen(window.cast())
    case .normal, .minimized: break
    }
  }

  /// Tells the controller how the window is; GTK knows the size it has while it is normal, and no place.
  private func note() {
    guard gtk_widget_get_mapped(window.pointer) != 0 else { return }
    let state: WindowController.State =
      gtk_window_is_fullscreen(window.cast()) != 0
      ? .fullScreen : gtk_window_is_maximized(window.cast()) != 0 ? .maximized : .normal
    var (width, height): (Int32, Int32) = (0, 0)
    gtk_window_get_default_size(window.cast(), &width, &height)
    controller?.windowDidChange(to: state, size: WindowController.Size(width: Double(width), height: Double(height)))
  }

  func showLockPage(_ isLocked: Bool) { gtk_stack_set_visible_child_name(stack.opaque, isLocked ? "lock" : "content") }
  func present() { gtk_window_present(window.cast()) }
  func destroy() { gtk_window_destroy(window.cast()) }

  /// Adds a button to the header.
  func addButton(_ label: String, _ action: @escaping () -> Void) {
    let button = Widget(gtk_button_new_with_label(label))
    gtk_header_bar_pack_start(header.opaque, button.pointer)
    button.connect("clicked") {
      action()
      return false
    }
  }
}
