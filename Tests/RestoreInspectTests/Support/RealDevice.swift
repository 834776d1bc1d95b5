import DataProtection
import Foundation
import RestorationArchive
import Testing

/// A device in a folder of its own on the real disk, removed with the value.
final class RealDevice: Sendable {
  let path: String
  let device: ProtectedDevice
  let store: ArchiveStore

  /// Makes a device with two generations.
  init(passcode: String? = nil) async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "inspect-\(UUID().uuidString)")
    path = url.path
    device = try await ProtectedDevice.open(at: .directory(path))
    store = try device.archives(for: ArchiveSlot(application: "main", scene: "main"))
    if let passcode { try await device.setPasscode(ProtectedDevice.Passcode(passcode)) }
    try save("first")
    try save("second")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Saves a generation with a draft.
  func save(_ draft: String) throws {
    var writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 1.7e9)))
    let root = try writer.insert("root")
    let editor = try writer.insert("editor", parent: root)
    try writer.setRecord(
      of: editor, entries: [RestorationArchive.Entry(key: "draft", value: draft)],
      attributes: RestorationArchive.Attributes())
    try store.publish(try writer.makeArchive())
  }

  /// Everything that can be seen of the tree: names, kinds, modes, times of change, and bytes.
  func contents() throws -> [String: String] {
    var found: [String: String] = [:]
    let names = try FileManager.default.subpathsOfDirectory(atPath: path) + ["."]
    for name in names {
      let file = path + "/" + name
      var status = stat()
      try #require(unsafe lstat(file, &status) == 0)
      let bytes = (status.st_mode & S_IFMT) == S_IFREG ? try Data(contentsOf: URL(filePath: file)) : Data()
      found[name] =
        "\(status.st_mode) \(status.st_uid) \(status.st_nlink) \(status.st_ino) \(status.st_mtim.tv_sec)."
        + "\(status.st_mtim.tv_nsec) \(bytes.base64EncodedString())"
    }
    return found
  }
}
