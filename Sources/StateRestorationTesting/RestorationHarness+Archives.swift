import FoundationShim
import StateRestoration

extension RestorationHarness {
  /// The plaintext of what the program preserved last, with the changes appended since.
  func openPreserved() async throws -> (base: Data, deltas: [Data]) {
    let process = try await device.startProcess()
    defer { process.fileSystem.die() }
    let store = try archives(of: process.device)
    return try await Self.read(store)
  }

  /// Puts a plaintext archive in the place of what the program preserved, as a golden file does.
  func publish(_ plaintext: Data) async throws {
    let process = try await device.startProcess()
    defer { process.fileSystem.die() }
    let store = try archives(of: process.device)
    try await Self.write(plaintext, store)
  }

  private func archives(of device: ProtectedDevice) throws -> ArchiveStore {
    try device.archives(
      for: ArchiveSlot(application: configuration.application, scene: SceneSession.ID.main.rawValue),
      protection: configuration.protection)
  }

  @concurrent private static func read(_ store: ArchiveStore) async throws -> (base: Data, deltas: [Data]) {
    let opened = try store.openNewest()
    return (try opened.readAll(), opened.frames)
  }

  @concurrent private static func write(_ plaintext: Data, _ store: ArchiveStore) async throws {
    try store.publish(plaintext)
    store.close()
  }
}
