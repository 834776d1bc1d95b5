import CGtk
import StateRestoration

/// The second window: one text.
final class ScratchWindow: AppWindow {
  private let page: ScratchController
  private let pane = TextPane(name: "scratch")

  init(_ controller: ScratchWindowController, _ page: ScratchController, onClose: @escaping () -> Void) {
    self.page = page
    super.init(controller, title: "Scratch", content: pane.widget, lockPage: Widget(gtk_label_new("Locked")))
    pane.onText = { page.text = $0 }
    pane.onCaret = { page.caret = $0 }
    pane.onTop = { page.top = $0 }
    window.connect("close-request") {
      onClose()
      return false
    }
  }

  func fill() {
    pane.fill(page.text, caret: page.caret, top: page.top)
    pane.focus()
  }

  func empty() { pane.fill("", isEditable: false) }
}
