import FileSystem
import Foundation
import TestTraits
import Testing

@testable import DataProtection

/// Something that is no file in the place of one of the store's small files, on the real disk.
@Suite(.tags(.threads)) struct StoreObstacleTests {
  /// What is put there.
  enum Obstacle: CaseIterable {
    case directory, fifo, symbolicLink, socket
  }

  @Test(arguments: ["ledger", "marker", "/slots"], Obstacle.allCases)
  func `it makes room for a new one, and nothing that was saved is lost`(_ name: String, _ obstacle: Obstacle) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "obstacle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: url) }
    let fileSystem = LinuxFileSystem()
    let rig = StoreRig()
    func archives(_ application: String = "one") throws -> ArchiveStore {
      let root = OwnedDescriptor(fileSystem, try fileSystem.openDirectory(atPath: url.path))
      let directory = try StoreDirectory(fileSystem, in: root, keys: rig.keys, sealer: rig.sealing)
      let store = try directory.archives(for: ArchiveSlot(application: application), protection: .complete)
      store.keepState()
      return store
    }
    let first = try archives()
    for content in ["1", "2"] { try first.publish(Data(content.utf8)) }
    _ = try first.beginAttempt(at: first.openNewest())
    first.close()
    let path = name.hasPrefix("/") ? url.path + name : "\(url.path)/archives/\(first.name.text)/\(name)"
    try FileManager.default.removeItem(atPath: path)
    try place(obstacle, at: path)

    let store = try archives()
    try store.open()
    let opened = try store.openNewest()
    #expect(try opened.readAll() == Data("2".utf8))
    _ = try store.beginAttempt(at: opened)
    #expect(try store.publish(Data("3".utf8)).durability == .durable)
    store.close()
    #expect(try archives("two").publish(Data("other".utf8)).durability == .durable)
    let next = try archives().openNewest()
    #expect(try next.readAll() == Data("3".utf8) && next.standing == .current)
  }

  private func place(_ obstacle: Obstacle, at path: String) throws {
    switch obstacle {
    case .directory:
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: path + "/inside"))
    case .fifo: try #require(unsafe mkfifo(path, 0o600) == 0)
    case .symbolicLink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere")
    case .socket: try #require(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
    }
  }
}
