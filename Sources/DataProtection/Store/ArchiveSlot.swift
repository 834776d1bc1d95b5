/// The owner of an archive: an application, one of its scenes, and a purpose.
///
/// The three strings may be anything at all, hostile input included: they are hashed under the device's name key
/// into a file name, and never become part of a path. The same bytes always name the same slot, and other bytes another
/// one: strings that Swift calls equal though their bytes differ ("é" in one piece and in two) name two slots.
package struct ArchiveSlot: Hashable, Sendable {
  /// The application, by its identifier.
  package var application: String
  /// The scene session; empty for a program with one scene.
  package var scene: String
  /// The purpose: `"archive"`, `"snapshot"`, or a name of the program's own.
  package var slot: String

  /// Names a slot.
  package init(application: String, scene: String = "", slot: String = "archive") {
    self.application = application
    self.scene = scene
    self.slot = slot
  }

  /// The three strings, each with its length in front.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for part in [application, scene, slot] {
      bytes.appendInteger(UInt32(truncatingIfNeeded: part.utf8.count))
      bytes += part.utf8
    }
    return bytes
  }

  /// Whether two name one slot.
  package static func == (left: ArchiveSlot, right: ArchiveSlot) -> Bool { left.bytes == right.bytes }

  /// Hashes what names the slot.
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
