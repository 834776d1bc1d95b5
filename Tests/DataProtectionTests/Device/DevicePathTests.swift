import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// The way to a device's directory, where a part of it is a link.
@Suite struct DevicePathTests {
  let path = "/home/me/.local/state/app"

  /// A world with a home, in which the user makes what is missing below.
  private func world() -> MemoryFileSystem {
    let memory = MemoryFileSystem()
    for directory in ["/home", "/home/me", "/data", "/data/state"] { memory.plant(.directory, atPath: directory) }
    return memory
  }

  private func open(_ memory: MemoryFileSystem) async throws(ProtectionError) -> ProtectedDevice {
    try await ProtectedDevice.open(
      at: .directory(path), environment: DeviceEnvironment(fileSystem: memory, scrypt: .test, variables: { _ in nil }))
  }

  @Test(arguments: ["/home/me/.local/state", "/home/me/.local", "/home/me"], ["/data/state", "/data/new", "later"])
  func `a link that the user has made on the way is followed at the first launch`(
    _ link: String, _ target: String
  ) async throws {
    let memory = world()
    let parents = link.split(separator: "/").dropLast()
    for count in parents.indices {
      let directory = "/" + parents[...count].joined(separator: "/")
      if memory.status(atPath: directory) == nil { memory.plant(.directory, atPath: directory) }
    }
    memory.remove(atPath: link)
    memory.plantSymbolicLink(to: target, atPath: link)
    // Root's is as good as the user's.
    if target == "/data/new" { memory.setOwner(0, atPath: link) }
    do {
      let device = try await open(memory)
      try device.archives(for: ArchiveSlot(application: "a")).publish(Data("saved".utf8))
    }
    let device = try await open(memory)
    #expect(try device.archives(for: ArchiveSlot(application: "a")).openNewest().readAll() == Data("saved".utf8))
    #expect(memory.status(atPath: link)?.kind == .symbolicLink)
  }

  @Test(arguments: ["owner", "group", "others", "parent's owner", "dangling in a circle"])
  func `a link that somebody else has made or can exchange is refused, and nothing is made`(
    _ fault: String
  ) async throws {
    let memory = world()
    memory.plant(.directory, atPath: "/home/me/.local")
    memory.plantSymbolicLink(to: "/data/state", atPath: "/home/me/.local/state")
    switch fault {
    case "owner": memory.setOwner(7, atPath: "/home/me/.local/state")
    case "group": memory.setMode(0o720, atPath: "/home/me/.local")
    case "others": memory.setMode(0o702, atPath: "/home/me")
    case "parent's owner": memory.setOwner(7, atPath: "/home")
    default:
      memory.remove(atPath: "/home/me/.local/state")
      memory.plantSymbolicLink(to: "/home/me/.local/state", atPath: "/home/me/.local/state")
    }
    // The super-user may enter what is another's.
    let before = memory.revision
    #expect(await code { _ = try await open(memory) } == .unsafeLocation)
    #expect(memory.revision == before)
  }

  @Test func `in a directory with the sticky bit a link of the user's is followed`() async throws {
    let memory = world()
    memory.setMode(0o1777, atPath: "/home")
    memory.remove(atPath: "/home/me")
    memory.plantSymbolicLink(to: "/data", atPath: "/home/me")
    _ = try await open(memory)
  }

  @Test func `the device's own directory is no link`() async throws {
    let memory = world()
    memory.plant(.directory, atPath: "/home/me/.local")
    memory.plant(.directory, atPath: "/home/me/.local/state")
    memory.plantSymbolicLink(to: "/data/state", atPath: path)
    #expect(await code { _ = try await open(memory) } == .unsafeLocation)
  }

  @Test func `a link with dots in it leads where the kernel says`() async throws {
    let root = NSTemporaryDirectory() + "paths-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let folder: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    for name in ["/home/me/.local", "/data/state"] {
      try FileManager.default.createDirectory(
        atPath: root + name, withIntermediateDirectories: true, attributes: folder)
    }
    try FileManager.default.createSymbolicLink(
      atPath: root + "/home/me/.local/state", withDestinationPath: "./../../../data/state")
    let location = ProtectedDevice.Location.directory(root + "/home/me/.local/state/app")
    for _ in 0..<2 {
      let device = try await ProtectedDevice.open(
        at: location, environment: DeviceEnvironment(scrypt: .test, variables: { _ in nil }))
      #expect(device.isProtectedDataAvailable)
    }
    #expect(FileManager.default.fileExists(atPath: root + "/data/state/app/device.key"))
  }
}
