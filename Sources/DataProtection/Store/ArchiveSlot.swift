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

  /// Reads three strings, each with its length in front, and zeroes behind them; nil for anything else.
  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    var parts: [String] = []
    for _ in 0..<3 {
      guard rest.count >= 4 else { return nil }
      var reader = FieldReader(rest)
      let count = Int(reader.integer(UInt32.self))
      guard rest.count - 4 >= count, let part = String(validating: rest.dropFirst(4).prefix(count), as: UTF8.self)
      else {
        return nil
      }
      parts.append(part)
      rest = rest.dropFirst(4 + count)
    }
    guard rest.allSatisfy({ $0 == 0 }) else { return nil }
    self.init(application: parts[0], scene: parts[1], slot: parts[2])
  }

  /// Whether two name one slot.
  package static func == (left: ArchiveSlot, right: ArchiveSlot) -> Bool { left.bytes == right.bytes }

  /// Hashes what names the slot.
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
