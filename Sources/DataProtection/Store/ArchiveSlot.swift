/// Whose archive it is: an application, one of its scenes, and what is kept for it.
///
/// The three strings may be anything at all, hostile input included: they are hashed under the device's name key
/// into a file name, and never become part of a path. The same strings always name the same slot.
public struct ArchiveSlot: Hashable, Sendable {
  /// The application, by its identifier.
  public var application: String
  /// The scene session; empty for a program with one scene.
  public var scene: String
  /// What is kept for the scene: `"archive"`, `"snapshot"`, or a name of the program's own.
  public var slot: String

  /// Names a slot.
  public init(application: String, scene: String = "", slot: String = "archive") {
    self.application = application
    self.scene = scene
    self.slot = slot
  }
}
