import DataProtection
import Foundation
import StateRestoration
import StateRestorationTesting
import Testing

/// A toolkit that shows windows.
@MainActor protocol WindowToolkit: AnyObject, Sendable {
  nonisolated func post(_ block: @escaping @Sendable () -> Void)
  func show(_ window: WindowState)
}

// snippet: ToolkitWindows
/// The restored state of one window.
final class WindowState: ContainerController {
  let id: RestoredWindow.ID
  let scope = RestorationScope("views")

  init(_ id: RestoredWindow.ID) {
    self.id = id
    super.init("window")
  }

  override var containedControllers: [any RestorableController] { [scope] }
}

@MainActor final class OpenWindows {
  private let windows: RestoredWindows<WindowState>
  private let toolkit: any WindowToolkit

  init(of toolkit: some WindowToolkit, at location: ProtectedDevice.Location) throws {
    self.toolkit = toolkit
    windows = try RestorationSession.openNow(
      at: location, windows: { WindowState($0.id) },
      configuration: RestorationConfiguration(mainLoop: RestorationMainLoop { block in toolkit.post(block) }))
    // The frontmost last, so that it lies above the others.
    for window in windows.roots.reversed() { toolkit.show(window) }
    if windows.roots.isEmpty, windows.device.lockState == .unlocked { try userOpens() }
  }

  func userOpens() throws { toolkit.show(try windows.openNewNow()) }
  func userReopens() throws { if let window = try windows.reopenNow() { toolkit.show(window) } }
  func userActivates(_ window: WindowState) throws { try windows.activateNow(window.id) }
  func userCloses(_ window: WindowState, title: String) throws { try windows.closeNow(window.id, title: title) }

  /// The main loop is over; the windows that are open now are open at the next launch.
  func end() throws { try windows.endNow() }
}
// snippet end

// snippet: SettleKey
@MainActor func settleDraft(in scope: RestorationScope) {
  let draft = scope.value("draft", default: "")
  scope.settleConflict(ofKey: "draft") { (older: [String]) in
    draft.value = (older + [draft.value]).joined(separator: "\n")
  }
}
// snippet end

/// Lists the windows that it was asked to show.
@MainActor private final class ListedWindows: WindowToolkit {
  var shown: [WindowState] = []
  var texts: [String] { shown.map { $0.scope.value("text", default: "").value } }

  nonisolated func post(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }
  func show(_ window: WindowState) { shown.append(window) }
}

@MainActor struct ToolkitTests {
  @Test func `the windows of the article come back in their order, the frontmost last`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("toolkit-windows-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = ListedWindows()
    let windows = try OpenWindows(of: first, at: .directory(folder.path))
    try windows.userOpens()
    try windows.userOpens()
    for (window, text) in zip(first.shown, ["one", "two", "three"]) {
      window.scope.value("text", default: "").value = text
    }
    try windows.userActivates(first.shown[0])
    try windows.userCloses(first.shown[2], title: "Three")
    try windows.end()
    let second = ListedWindows()
    let again = try OpenWindows(of: second, at: .directory(folder.path))
    #expect(second.texts == ["two", "one"])
    try again.userReopens()
    #expect(second.texts == ["two", "one", "three"])
    try again.end()
  }

  @Test func `a draft that was typed while locked is joined to the stored one as the article does it`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    func open(_ scope: RestorationScope) async throws -> RestorationSession {
      let process = try await device.startProcess()
      return try RestorationSession.openNow(on: process.device, root: scope)
    }
    let scope = RestorationScope("window")
    let first = try await open(scope)
    scope.value("draft", default: "").value = "stored"
    try first.closeNow()
    device.reboot()
    let locked = RestorationScope("window")
    let second = try await open(locked)
    locked.value("draft", default: "").value = "typed"
    try second.unlockNow(passcode: "1234")
    #expect(locked.value("draft", default: "").value == "typed")
    settleDraft(in: locked)
    settleDraft(in: locked)
    #expect(locked.value("draft", default: "").value == "stored\ntyped")
    try second.closeNow()
  }
}
