import Foundation
import StateRestoration

/// The lines that were jotted down while the device was locked, to be read after the unlock.
///
/// Each line is a node of its own with a name of its own: a program that was started while locked knows none of the
/// earlier ones, and what it saves must not stand in their place. Only the passcode opens them.
@MainActor final class InboxController: ContainerController {
  private(set) var jots: [JotController] = []

  init() { super.init(RestorationIdentity("inbox", protection: .complete)) }

  override var containedControllers: [any RestorableController] { jots }

  /// Begins a line.
  func begin() -> JotController {
    let jot = JotController(identifier: RestorationIdentifier(rawValue: "jot-\(UUID().uuidString)"))
    jots.append(jot)
    return jot
  }

  /// Throws the lines away.
  func clear() { jots = [] }

  override func install(_ children: [RestoredChild]) {
    let restored = children.compactMap { $0.controller as? JotController }
    jots = restored + jots.filter { jot in !restored.contains { $0 === jot } }
  }
}
