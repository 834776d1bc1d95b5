import FaultyFileSystem
import FileSystem
import Foundation

/// The disk of a simulated device, in memory or in a folder of the real one.
@MainActor final class SimulatedVolume {
  private enum Medium {
    case memory(MemoryFileSystem)
    case folder(TemporaryFolder)
  }

  private var medium: Medium

  /// The disk as processes see it, with the faults of the moment.
  private(set) var faults: FaultyFileSystem

  /// The name of the device's directory in the root of a memory disk.
  nonisolated private static let memoryPath = "/device"

  init(_ storage: SimulatedDevice.Storage) {
    switch storage {
    case .memory:
      let memory = MemoryFileSystem()
      medium = .memory(memory)
      faults = FaultyFileSystem(memory)
    case .temporaryFolder:
      medium = .folder(TemporaryFolder())
      faults = FaultyFileSystem(LinuxFileSystem())
    }
  }

  /// The device's directory, for the file system of this volume.
  var path: String {
    switch medium {
    case .memory: Self.memoryPath
    case .folder(let folder): folder.path + "/device"
    }
  }

  /// The device's directory on the real disk; `nil` in memory.
  var realPath: String? {
    if case .folder = medium { path } else { nil }
  }

  /// The disk itself, until the next restart; `nil` for a folder.
  var memory: MemoryFileSystem? {
    if case .memory(let memory) = medium { memory } else { nil }
  }

  /// The contents of the disk.
  ///
  /// No process may live while it is replaced.
  var contents: SimulatedDevice.Disk {
    get {
      switch medium {
      case .memory(let memory): SimulatedDevice.Disk(content: .memory(memory.afterProcessDeath()))
      case .folder: SimulatedDevice.Disk(content: .folder(Self.files(inFolder: path)))
      }
    }
    set {
      switch (medium, newValue.content) {
      case (.memory, .memory(let memory)): use(memory.afterProcessDeath())
      case (.folder, .folder(let files)): Self.write(files, toFolder: path)
      default: preconditionFailure("A disk in memory can't be put back into a temporary folder, nor the other way.")
      }
    }
  }

  /// Takes from the disk what a power cut takes.
  ///
  /// No process may live.
  func cutPower(losing loss: SimulatedDevice.PowerCutLoss) {
    guard case .memory(let memory) = medium else {
      precondition(
        loss == .nothing,
        "A temporary folder keeps everything: cut the power with `losing: .nothing`, or simulate the device in memory.")
      return
    }
    let policy: PowerCutPolicy =
      switch loss {
      case .everythingUnsynchronized: .dropAll
      case .nothing: .keepPrefix(.max)
      case .one(let number): .loseOne(number)
      case .changes(let mask): .lose(mask: mask)
      case .endOfLastWrite(let count): .tearLast(keeping: count)
      }
    use(memory.afterPowerCut(policy))
  }

  /// How many changes were not synchronised yet; none in a folder.
  var unsynchronizedChanges: Int {
    guard case .memory(let memory) = medium else { return 0 }
    return memory.powerCutPolicies.count { if case .loseOne = $0 { true } else { false } }
  }

  private func use(_ memory: MemoryFileSystem) {
    medium = .memory(memory)
    faults = FaultyFileSystem(memory)
  }

  // MARK: Files

  /// Every file below the device's directory on a memory disk.
  nonisolated static func files(in memory: MemoryFileSystem) -> [String: Data] {
    var found: [String: Data] = [:]
    var directories = [""]
    while let directory = directories.popLast() {
      for name in memory.names(atPath: memoryPath + directory) {
        let path = "\(directory)/\(name)"
        if memory.status(atPath: memoryPath + path)?.kind == .directory {
          directories.append(path)
        } else if let bytes = memory.content(atPath: memoryPath + path) {
          found[String(path.dropFirst())] = Data(bytes)
        }
      }
    }
    return found
  }

  private static func files(inFolder path: String) -> [String: Data] {
    var found: [String: Data] = [:]
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] {
      var isDirectory: ObjCBool = false
      let file = path + "/" + name
      guard unsafe FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory), !isDirectory.boolValue
      else { continue }
      found[name] = FileManager.default.contents(atPath: file)
    }
    return found
  }

  private static func write(_ files: [String: Data], toFolder path: String) {
    let manager = FileManager.default
    do {
      if manager.fileExists(atPath: path) { try manager.removeItem(atPath: path) }
      for (name, bytes) in files {
        let file = path + "/" + name
        try manager.createDirectory(
          atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700])
        guard manager.createFile(atPath: file, contents: bytes, attributes: [.posixPermissions: 0o600]) else {
          throw CocoaError(.fileWriteUnknown)
        }
      }
    } catch {
      preconditionFailure("The folder \(path) of a simulated device can't be written: \(error)")
    }
  }
}

/// A folder that is removed when nobody needs it any more.
private final class TemporaryFolder: Sendable {
  let path: String

  init() {
    let url = FileManager.default.temporaryDirectory.appending(path: "simulated-device-\(UUID().uuidString)")
    path = url.path
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      preconditionFailure("No folder for a simulated device can be made in \(url.deletingLastPathComponent().path).")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
