import StateRestoration

/// What a program with one scene calls it.
enum SceneDefaults {
  /// The scene of a program that has only one.
  static let scene = RestoredWindow.ID.main.rawValue
  /// The application of a program that says nothing else.
  static let application = "main"
}
