import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import Testing

/// The blocks of a real file system, mounted for one test.
@Suite(.serialized, .enabled(if: DiskImage.isPossible)) struct RawImageTests {
  @Test func `no interrupted change leaves a key in the blocks of ext4 after an erase`() async throws {
    let image = try DiskImage(megabytes: 16)
    defer { image.unmount() }
    func open(through fileSystem: any FileSystem = LinuxFileSystem()) async throws -> ProtectedDevice {
      try await ProtectedDevice.open(
        at: .directory(image.mountPoint + "/device"),
        environment: DeviceEnvironment(fileSystem: fileSystem, scrypt: .test))
    }
    let effaceable = Array("SRPEFFAC".utf8)
    let deviceKey: [UInt8]
    do {
      let device = try await open()
      deviceKey = [UInt8](try Data(contentsOf: URL(filePath: image.mountPoint + "/device/device.key")))
      try await device.setPasscode(ProtectedDevice.Passcode("old"))
    }
    #expect(try image.count(of: effaceable) == 1)
    #expect(try image.count(of: deviceKey) == 1)
    var number = 0
    var largest = 0
    while true {
      number += 1
      let faulty = FaultyFileSystem(LinuxFileSystem())
      do {
        let device = try await open(through: faulty)
        let opened = faulty.callCount
        // From this call on the process is as good as dead.
        faulty.fail(from: opened + number, nil, .error(.inputOutput))
        let outcome = await code {
          try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("old"))
        }
        if outcome == nil, faulty.hits.isEmpty { break }
      }
      largest = max(largest, try image.count(of: effaceable))
      let device = try await open()
      #expect(try image.count(of: effaceable) == 1, "call \(number)")
      try await device.unlock(passcode: ProtectedDevice.Passcode("old"))
    }
    #expect(number > 20)
    // The search is not blind: some of the changes had written their key.
    #expect(largest == 2)
    try await open().eraseAllContent()
    #expect(try image.count(of: effaceable) == 1)
    #expect(try image.count(of: deviceKey) == 0)
  }
}

/// An ext4 file system in a file, mounted through a loop device.
private struct DiskImage {
  private let folder: String
  let mountPoint: String
  private var path: String { folder + "/image" }

  /// Whether this machine lets a test mount one.
  static let isPossible: Bool = {
    guard geteuid() == 0, let image = try? DiskImage(megabytes: 8) else { return false }
    image.unmount()
    return true
  }()

  init(megabytes: Int) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "image-\(UUID().uuidString)").path()
    mountPoint = folder + "/disk"
    try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: true)
    do {
      guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.truncate(atOffset: UInt64(megabytes) << 20)
      try file.close()
      try run("/usr/sbin/mkfs.ext4", "-q", path)
      try run("/bin/mount", "-o", "loop", path, mountPoint)
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  func unmount() {
    try? run("/bin/umount", mountPoint)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// How often some bytes are in the blocks, free ones included.
  func count(of needle: [UInt8]) throws -> Int {
    sync()
    let bytes = try Data(contentsOf: URL(filePath: path))
    var count = 0
    var start = bytes.startIndex
    while let found = bytes[start...].range(of: Data(needle)) {
      count += 1
      start = found.lowerBound + 1
    }
    return count
  }

  private func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
  }
}
