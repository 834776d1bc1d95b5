import Foundation
import StateRestoration

/// A session's daemon: it keeps what the first unlock after a start opens until the machine is started again.
///
/// The keys lie in a folder that is on no tested disk; who removes it starts the machine again.
final class FileCustody: ProtectedDevice.KeyCustody {
  private let folder: URL

  init(_ folder: String) { self.folder = URL(filePath: folder) }

  private func file(_ entry: ProtectedDevice.KeyCustodyEntry) -> URL? {
    guard entry.protection == .completeUntilFirstUserAuthentication else { return nil }
    return folder.appending(path: entry.keybag)
  }

  /// Whether it has the key of any device.
  ///
  /// A file that was being written has another name.
  var hasKeys: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.contains { !$0.hasPrefix(".") }
  }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    guard let file = file(entry) else { return }
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? Data(key.indices.map { key[$0] }).write(to: file, options: .atomic)
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    guard let file = file(entry), let key = try? Data(contentsOf: file) else { return }
    body(Array(key).span)
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    if let file = file(entry) { try? FileManager.default.removeItem(at: file) }
  }
}
