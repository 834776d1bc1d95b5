import StateRestoration

/// The root: the three tabs, and the inbox beside them.
@MainActor final class RootController: TabController {
  let notes: NotesController
  let search: SearchController
  let settings: SettingsController
  let inbox = InboxController()

  init(notes: NotesController, search: SearchController, settings: SettingsController) {
    self.notes = notes
    self.search = search
    self.settings = settings
    super.init("root", tabs: [notes, search, settings])
  }

  override var containedControllers: [any RestorableController] { super.containedControllers + [inbox] }

  override func install(_ children: [RestoredChild]) {
    super.install(children.filter { $0.identifier != inbox.restoration.identifier })
  }

  /// The screen of the selected tab.
  var screen: (any Screen)? { selected as? any Screen }
}
