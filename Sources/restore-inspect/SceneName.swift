import DataProtection

/// What people call a scene session.
///
/// The program's own scope has a session too, under a name that no window can have and nobody can type: it is `(program)` here, and
/// `(program 2)` that of a second process.
enum SceneName {
  private static let mark = "\u{0}"

  /// The name to be shown of a session.
  static func shown(_ scene: String) -> String {
    guard scene.hasPrefix(mark) else { return scene }
    let number = scene.dropFirst(mark.count)
    return number == "1" ? "(program)" : "(program \(number))"
  }

  /// The session that a name which was shown stands for.
  static func session(_ name: String) -> String {
    if name == shown("\(mark)1") { return "\(mark)1" }
    guard name.hasPrefix("(program "), name.hasSuffix(")") else { return name }
    let number = name.dropFirst("(program ".count).dropLast()
    return Int(number).map { "\(mark)\($0)" } ?? name
  }
}

extension ArchiveSlot {
  /// The name of its scene, to be shown.
  var shownScene: String { SceneName.shown(scene) }
}
