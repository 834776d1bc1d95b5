import StateRestoration

/// The passcode and the lock.
///
/// It exists at launch; only which row is selected comes back: no passcode is ever preserved.
@MainActor final class SettingsController: RowListController {
  /// What a row asks for.
  enum Action { case setPasscode, changePasscode, removePasscode, lock }

  private let hasPasscode: @MainActor () -> Bool
  private let onAction: @MainActor (Action) -> Void

  init(hasPasscode: @escaping @MainActor () -> Bool, onAction: @escaping @MainActor (Action) -> Void) {
    self.hasPasscode = hasPasscode
    self.onAction = onAction
    super.init("settings")
    rowsDidChange()
  }

  override var title: String { "Settings" }

  override var rows: [String] { actions.map(\.title) }

  override func open(row: Int) { onAction(actions[row].action) }

  private var actions: [(action: Action, title: String)] {
    hasPasscode()
      ? [
        (.changePasscode, "Change the passcode…"), (.removePasscode, "Remove the passcode…"), (.lock, "Lock now"),
      ]
      : [(.setPasscode, "Set a passcode… (without one nothing locks)")]
  }
}
