import DataProtection
import FaultyFileSystem
import FileSystem
import RestorationArchive
import SimulatedTime
import StateRestoration
import Testing
import restore_inspect

/// A device in memory with something preserved on it, and the tool pointed at it.
@MainActor struct InspectedState {
  final class Root: RestorationParent {
    let restoration: RestorationIdentity = "root"
    let editor = Editor()
    var restorationChildren: [any RestorableController] { [editor] }
  }

  final class Editor: RestorableController, CodingObject {
    let restoration = RestorationIdentity("editor", model: "note-7")
    var draft = "a secret draft"

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(draft, forKey: "draft")
      coder.encode([1, 2, 3], forKey: "rows")
    }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      draft = try coder.decode(String.self, forKey: "draft")
    }
  }

  final class Delegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  static let path = "/device"
  let disk: MemoryFileSystem

  /// Preserves two generations; with a passcode the device is closed afterwards and its keys are gone.
  init(passcode: String? = nil) async throws {
    let first = MemoryFileSystem()
    let device = try await ProtectedDevice.open(at: .directory(Self.path), environment: Self.environment(first))
    if let passcode { try await device.setPasscode(ProtectedDevice.Passcode(passcode)) }
    let (root, delegate) = (Root(), Delegate())
    let coordinator = try RestorationCoordinator(device: device, delegate: delegate)
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    withExtendedLifetime((delegate, coordinator)) {}
    // The program ends; a second whole generation, as after a compaction, is the next one's.
    disk = first.afterProcessDeath()
    try await inProgram(passcode: passcode) { try $0.publish(try $0.openNewest().readAll()) }
  }

  static func environment(_ disk: any FileSystem) -> DeviceEnvironment {
    DeviceEnvironment(fileSystem: disk, clock: ManualClock(), scrypt: .test, variables: { _ in nil })
  }

  func run(
    _ words: String..., passcode: String? = nil, on other: (any FileSystem)? = nil
  ) async -> InspectTool.Result {
    let tool = InspectTool(environment: Self.environment(other ?? disk), style: InspectStyle(hasColours: false))
    return await tool.run(words) { _ throws(InspectFailure) in
      guard let passcode else { return nil }
      do throws(ProtectionError) { return try ProtectedDevice.Passcode(passcode) } catch { throw InspectFailure(error) }
    }
  }

  func run(_ words: [String]) async -> InspectTool.Result {
    await InspectTool(environment: Self.environment(disk), style: InspectStyle(hasColours: false)).run(words) {
      _ throws(InspectFailure) in nil
    }
  }

  /// Has the program preserve from the beginning.
  func removeState() async throws { try await inProgram { try $0.deleteAll() } }

  /// Does something with the store of an application's slot, in a process of its own, as the program would.
  func inProgram(
    slot: String = "archive", passcode: String? = nil, isLocked: Bool = false,
    _ body: @escaping @Sendable (ArchiveStore) throws -> Void
  ) async throws {
    let device = try await ProtectedDevice.open(at: .directory(Self.path), environment: Self.environment(disk))
    if let passcode, !isLocked { try await device.unlock(passcode: ProtectedDevice.Passcode(passcode)) }
    let store = try device.archives(for: ArchiveSlot(application: "main", scene: "main", slot: slot))
    try await Self.apart { try body(store) }
  }

  /// Appends a change for each of some new nodes to the newest generation.
  nonisolated static func appendNodes(_ names: [RestorationIdentifier], to store: ArchiveStore) throws {
    try store.open()
    let newest = try store.openNewest()
    let reader = try RestorationArchive.Reader(base: RestorationArchive.Source(try newest.readAll()), deltas: [])
    var writer = try RestorationArchive.Writer(continuing: reader)
    for name in names {
      _ = try writer.insert(name)
      if let delta = try writer.makeDelta() { try store.append(delta, to: newest.generation) }
    }
  }

  @concurrent private static func apart(_ body: @Sendable () throws -> Void) async throws { try body() }

  /// Changes the bytes of a file.
  func edit(_ path: String, _ change: (inout [UInt8]) throws -> Void) throws {
    var bytes = try #require(disk.content(atPath: path))
    try change(&bytes)
    disk.plant(bytes, atPath: path)
  }

  /// The path of the newest generation.
  var newest: String {
    get throws { "\(Self.store)/\(try #require(generations.last))" }
  }

  /// The archives' directory.
  static let store = path + "/archives"

  /// The generations, oldest first in each slot: the slot's directory and the file's name.
  var generations: [String] { files("g-") }

  /// The files in the directories of slots whose names begin so: the slot's directory and the file's name.
  func files(_ prefix: String) -> [String] {
    disk.names(atPath: Self.store).sorted().flatMap { slot in
      guard disk.status(atPath: "\(Self.store)/\(slot)")?.kind == .directory else { return [String]() }
      return disk.names(atPath: "\(Self.store)/\(slot)").filter { $0.hasPrefix(prefix) }
        .sorted { ($0.count, $0) < ($1.count, $1) }.map { "\(slot)/\($0)" }
    }
  }

  /// Spoils the end of the last frame of a generation, or writes behind it.
  func spoilFrames(of generation: String, behind: Bool = false) throws {
    try edit("\(Self.store)/\(generation)") { bytes in
      let end = try #require(bytes.lastIndex { $0 != 0 })
      if behind {
        if bytes.count < end + 41 { bytes += Array(repeating: 0, count: end + 41 - bytes.count) }
        bytes[end + 40] = 0xAA
      } else {
        bytes[end - 4] ^= 1
      }
    }
  }

  /// Removes the directories of all slots.
  func removeArchives() {
    for slot in disk.names(atPath: Self.store) {
      for name in disk.names(atPath: "\(Self.store)/\(slot)") { disk.remove(atPath: "\(Self.store)/\(slot)/\(name)") }
      disk.remove(atPath: "\(Self.store)/\(slot)")
    }
  }

  /// Everything on the disk, for a comparison.
  func contents() -> [String: [UInt8]] { Self.contents(of: disk) }

  /// Everything on a disk, for a comparison.
  static func contents(of disk: MemoryFileSystem) -> [String: [UInt8]] {
    contents(of: disk, path)
  }

  private static func contents(of disk: MemoryFileSystem, _ path: String) -> [String: [UInt8]] {
    guard disk.status(atPath: path)?.kind == .directory else {
      return disk.content(atPath: path).map { [path: $0] } ?? [:]
    }
    var found: [String: [UInt8]] = [:]
    for name in disk.names(atPath: path) { found.merge(contents(of: disk, "\(path)/\(name)")) { $1 } }
    return found
  }
}
