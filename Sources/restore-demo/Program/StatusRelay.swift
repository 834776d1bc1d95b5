/// Connects controllers that exist before the program does with the program.
@MainActor final class StatusRelay {
  weak var application: DemoApplication?

  func say(_ text: String) { application?.say(text) }
  func open(_ note: Note) { application?.open(note) }
  func act(_ action: SettingsController.Action) { application?.perform(action) }
}
