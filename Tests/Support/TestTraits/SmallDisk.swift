import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A small disk in memory, mounted for one test: it can be full, or not writable.
package struct SmallDisk {
  private let path: String
  private var filler: String { path + "/.filler" }

  /// Whether this machine lets a test mount one.
  package static let isPossible: Bool = {
    let probe = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: probe) }
    guard geteuid() == 0, let disk = try? SmallDisk(at: probe, kilobytes: 16) else { return false }
    disk.unmount()
    return true
  }()

  private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }

  /// Makes the directory and mounts the disk there, with mode 0700.
  package init(at path: String, kilobytes: Int) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,mode=700") == 0 else { throw Self.failure }
  }

  /// Takes all the room that is left.
  package func fill() throws {
    let file = unsafe open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard file >= 0 else { throw Self.failure }
    let block = [UInt8](repeating: 0, count: 4096)
    while unsafe write(file, block, block.count) > 0 {}
    close(file)
  }

  /// Gives the room back.
  package func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

  package func remount(isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard unsafe mount("tmpfs", path, "tmpfs", flags, "") == 0 else { throw Self.failure }
  }

  package func unmount() { _ = unsafe umount2(path, Int32(MNT_DETACH)) }
}
