import StateRestoration

/// One line that was jotted down on the lock screen.
@MainActor final class JotController: RestorableController {
  /// The tag under which jots are registered.
  static let tag: RestorationIdentity.ClassTag = "jot"

  let restoration: RestorationIdentity

  /// The line.
  @Restored("text") var text = ""

  init(identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier, class: JotController.tag) }
}
