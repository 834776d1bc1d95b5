import FoundationShim
import StateRestoration

extension RestorationHarness {
  /// What the program preserved last.
  func openPreserved() async throws -> PreservedArchive {
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
    let store = try device.archives(
      for: ArchiveSlot(application: configuration.application, scene: RestoredWindow.ID.main.rawValue),
      protection: configuration.protection)
    // Parts have classes of their own.
    store.keepState()
    return store
  }

  @concurrent private static func read(_ store: ArchiveStore) async throws -> PreservedArchive {
    try PreservedArchive(try store.openNewestParts())
  }

  @concurrent private static func write(_ plaintext: Data, _ store: ArchiveStore) async throws {
    try store.publish(plaintext)
    store.close()
  }
}

/// What a program has preserved, in memory: all parts that have a key.
struct PreservedArchive: Sendable {
  /// The parts.
  let reader: RestorationArchive.PartedReader
  /// Their classes of protection.
  let classes: [RestorationArchive.Part: ProtectionClass]
  /// The base, where there is nothing else.
  private let base: Data?

  fileprivate init(_ generation: OpenedGeneration) throws {
    reader = try RestorationArchive.PartedReader(generation, isInMemory: true)
    classes = generation.classes
    let only = generation.parts.count == 1 ? generation.parts[0].archive : nil
    base = only?.frames.isEmpty == true ? try only?.readAll() : nil
  }

  /// The plaintext of all of it, as one part.
  var plaintext: Data {
    get throws {
      if let base { return base }
      var writer = try RestorationArchive.PartedWriter(continuing: reader)
      var moving: [NodeID: RestorationArchive.Part] = [:]
      var stack = try reader.roots
      while let node = stack.popLast() {
        stack += try reader.children(of: node)
        if node.part != .first, try reader.node(node)?.attributes.flags.contains(.record) == false {
          moving[node] = .first
        }
      }
      if !moving.isEmpty { _ = try writer.assign(moving) }
      return try writer.makeArchive(of: .first)
    }
  }
}
