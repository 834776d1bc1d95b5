import Foundation
import Glibc

/// Plain files through the same system calls, without keys: the floors of the disk metrics.
enum RawFile {
  /// A system call failed.
  struct Failure: Error, CustomStringConvertible {
    var call: String
    var number = errno
    var description: String { "\(call) failed with \(number)" }
  }

  /// Replaces a file durably: write, fsync, rename, fsync of the directory.
  static func replace(_ name: String, in directory: String, with data: Data) throws {
    let temporary = "\(directory)/\(name).new"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Failure(call: "open") }
    try write(descriptor, data)
    guard fsync(descriptor) == 0 else { throw Failure(call: "fsync") }
    close(descriptor)
    guard unsafe rename(temporary, "\(directory)/\(name)") == 0 else { throw Failure(call: "rename") }
    let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY)
    guard fsync(folder) == 0 else { throw Failure(call: "fsync of the directory") }
    close(folder)
  }

  /// Opens a file with zeroes of a size in it, for appending into.
  static func preallocated(_ path: String, byteCount: Int) throws -> Int32 {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Failure(call: "open") }
    _ = posix_fallocate(descriptor, 0, byteCount)
    guard fsync(descriptor) == 0 else { throw Failure(call: "fsync") }
    return descriptor
  }

  /// Writes at a position and makes it durable.
  static func append(_ descriptor: Int32, _ data: Data, at offset: Int) throws {
    let count = unsafe data.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, data.count, offset) }
    guard count == data.count else { throw Failure(call: "pwrite") }
    guard fdatasync(descriptor) == 0 else { throw Failure(call: "fdatasync") }
  }

  private static func write(_ descriptor: Int32, _ data: Data) throws {
    var written = 0
    while written < data.count {
      let count = unsafe data.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress.map { unsafe $0 + written }, data.count - written)
      }
      guard count > 0 else { throw Failure(call: "write") }
      written += count
    }
  }
}
