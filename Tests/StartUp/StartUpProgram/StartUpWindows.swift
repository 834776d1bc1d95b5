import Foundation
import StateRestoration

/// A window: a text, under the window's name.
public final class Draft: ContainerController {
  let id: RestoredWindow.ID
  let text = StoredValue("text", "")

  /// Makes an empty one.
  public init(_ id: RestoredWindow.ID) {
    self.id = id
    super.init("window")
  }

  public override var containedControllers: [any RestorableController] { [text] }
}

/// A program with windows, which answers a test.
@MainActor public final class StartUpWindows {
  /// The open windows.
  public var windows: RestoredWindows<Draft>?

  /// Makes a program without windows.
  public init() {}

  /// Brings the windows back at once, and says which.
  public func openNow(_ mainLoop: RestorationMainLoop) {
    do {
      windows = try RestorationSession.openNow(
        at: StartUpProgram.location, windows: { Draft($0.id) },
        configuration: RestorationConfiguration(mainLoop: mainLoop))
    } catch {
      writeLine("not opened: \(error)")
      exit(1)
    }
    sayWindows()
  }

  /// Says which windows there are, the frontmost first.
  public func sayWindows() {
    let texts = (windows?.roots ?? []).map { "\($0.id)=\($0.text.value)" }
    writeLine("windows: \(texts.isEmpty ? "none" : texts.joined(separator: ", ")).")
    // What the tests of blocked programs wait for.
    writeLine("draft: .")
  }

  /// Answers a line of the test; false when the program is to leave its loop.
  public func answer(_ line: String) -> Bool {
    guard let windows else { return false }
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1] : ""
    do {
      switch words.first {
      case "open":
        try windows.openNow(RestoredWindow.ID(rest))
        sayWindows()
      case "close":
        try windows.closeNow(RestoredWindow.ID(rest), title: rest)
        sayWindows()
      case "reopen":
        try windows.reopenNow()
        sayWindows()
      case "discard":
        try windows.discardNow(RestoredWindow.ID(rest))
        sayWindows()
      case "order":
        let order = try windows.openScopeNow().value("order", default: "")
        if !rest.isEmpty { order.value = rest }
        writeLine("order: \(order.value).")
      case "preserve": writeLine("outcomes: \(try windows.preserveNow().count).")
      case "exit": exit(7)
      case "end":
        try windows.endNow()
        writeLine("ended.")
      default:
        if windows.roots.isEmpty { try windows.openNewNow() }
        windows.roots.first?.text.value = line
        writeLine("typed: \(line).")
      }
    } catch {
      writeLine("failed: \(error)")
    }
    return true
  }
}
