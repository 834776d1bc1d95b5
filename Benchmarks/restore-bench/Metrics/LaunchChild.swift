import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import StateRestoration
import Synchronization

/// What one launch took, as the child process tells its parent.
struct LaunchTaken: Codable, Sendable {
  /// Nanoseconds as they passed, from the first call to the last restored object.
  var wall = 0.0
  /// Nanoseconds of processor time, of all threads.
  var processor = 0.0
  /// The counts by name.
  var counts: [String: Double] = [:]
}

/// One launch in a process of its own, which does nothing else.
///
/// Everything a program has before it restores (its objects, the libraries) is made before the time is taken.
@MainActor
struct LaunchChild {
  /// The ways to have the states.
  enum Way: String, CaseIterable, Sendable {
    /// The device and the coordinator, as a program uses them.
    case value
    /// The same through a file system that counts.
    case counted
    /// The same with every other object in a stronger class.
    case divided
    /// The same on a locked device, so that those have to wait.
    case locked
    /// The same program, which only ever preserved the objects that need not wait.
    case weaker
    /// A file of JSON.
    case json
    /// A database of rows that are encoded as ours.
    case sqlite
  }

  /// What the first argument of a child is.
  static let argument = "--child-launch"

  let way: Way
  let count: Int
  let directory: String

  /// Reads the arguments behind ``argument``: the way, the number of nodes, the directory.
  init(_ arguments: ArraySlice<String>) throws {
    let parts = Array(arguments)
    guard parts.count == 3, let way = Way(rawValue: parts[0]), let count = Int(parts[1]) else {
      throw Options.Problem(description: "\(Self.argument) is for the metric launch alone")
    }
    self.way = way
    self.count = count
    directory = parts[2]
  }

  /// Restores and prints what it took.
  func run() async throws {
    let nodes = Typical.nodes(count)
    var taken = LaunchTaken()
    switch way {
    case .value: taken = try await restore(nodes, LinuxFileSystem())
    case .divided: taken = try await restore(nodes, LinuxFileSystem(), secret: .complete)
    case .locked: taken = try await restore(nodes, LinuxFileSystem(), secret: .complete, isWeakerAlone: true)
    case .weaker: taken = try await restore(nodes, LinuxFileSystem(), secret: .complete, isWeakerAlone: true)
    case .counted:
      let counting = CountingFileSystem(LinuxFileSystem())
      taken = try await restore(nodes, counting)
    case .json:
      let begun = (Clock.wall.now, Clock.process.now)
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/states.json"))
      let states = try JSONDecoder().decode([Typical.State].self, from: data)
      taken.end(begun)
      try verify(states == nodes.map(\.state), "the file of JSON")
    case .sqlite:
      guard let sqlite = SQLite() else { throw WrongValue(description: "there is no SQLite") }
      let begun = (Clock.wall.now, Clock.process.now)
      sqlite.connect("\(directory)/states.sqlite")
      let decoder = ArchiveDecoder()
      let states = try sqlite.values().map { try decoder.decode(Typical.State.self, from: $0) }
      taken.end(begun)
      try verify(states == nodes.map(\.state), "the database")
    }
    print(String(decoding: try JSONEncoder().encode(taken), as: UTF8.self))
  }

  private func restore(
    _ nodes: [Node<Typical.State>], _ fileSystem: any FileSystem, secret: ProtectionClass? = nil,
    isWeakerAlone: Bool = false
  ) async throws -> LaunchTaken {
    var taken = LaunchTaken()
    let tree = BenchTree(nodes, isEmpty: true, secret: secret)
    let delegate = Willing()
    var options = ProtectedDevice.Options()
    options.custody = try FileCustody.load("\(directory)/custody.json")
    let begun = (Clock.wall.now, Clock.process.now)
    let device = try await ProtectedDevice.open(
      at: .directory("\(directory)/device"), options: options,
      environment: DeviceEnvironment(fileSystem: fileSystem))
    let opened = Clock.wall.now
    let coordinator = try RestorationCoordinator(
      device: device, delegate: delegate, configuration: LaunchMetrics.configuration)
    _ = try await coordinator.restore(into: tree.root)
    taken.end(begun)
    taken.counts["of it opening the device, ms"] = (opened - begun.0) / 1e6
    if let counts = (fileSystem as? CountingFileSystem)?.counts {
      taken.counts = [
        "system calls": Double(counts.systemCalls), "syncs": Double(counts.syncs), "locks": Double(counts[.lock]),
        "waits for a lock": Double(counts.lockWaits), "opens": Double(counts.opens),
        "bytes read": Double(counts.bytesRead),
      ]
    }
    let isRestored = zip(tree.leaves, nodes).map { $0.restorableState == $1.state }
    // The first object's state is that of all before they are restored.
    let expected = nodes.indices.map { !isWeakerAlone || $0.isMultiple(of: 2) }
    try verify(isRestored == expected, "the launch")
    withExtendedLifetime(coordinator) {}
    return taken
  }
}

extension LaunchTaken {
  /// Notes the time since a beginning.
  fileprivate mutating func end(_ begun: (wall: Double, processor: Double)) {
    wall = Clock.wall.now - begun.wall
    processor = Clock.process.now - begun.processor
  }
}

/// Keeps class keys in a file, as no program must: here they are those of a device of a benchmark, and the children need
/// them without a daemon.
final class FileCustody: ProtectedDevice.KeyCustody {
  private let path: String
  private let keys: Mutex<[String: [UInt8]]>

  private init(_ path: String, _ keys: [String: [UInt8]]) {
    self.path = path
    self.keys = Mutex(keys)
  }

  /// A custody without keys.
  static func make(_ path: String) -> FileCustody { FileCustody(path, [:]) }

  /// The custody that ``save()`` wrote; nil when there is none.
  static func load(_ path: String) throws -> FileCustody? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return FileCustody(
      path, try JSONDecoder().decode([String: [UInt8]].self, from: Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// Writes the keys down.
  func save() throws {
    let data = try JSONEncoder().encode(keys.withLock { $0 })
    try data.write(to: URL(fileURLWithPath: path))
  }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    let bytes = key.indices.map { key[$0] }
    keys.withLock { $0["\(entry.protection)"] = bytes }
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    guard let bytes = keys.withLock({ $0["\(entry.protection)"] }) else { return }
    body(bytes.span)
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) { keys.withLock { $0["\(entry.protection)"] = nil } }
}
