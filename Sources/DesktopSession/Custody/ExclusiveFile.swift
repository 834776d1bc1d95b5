import Glibc
import StateRestoration

/// A small file that appears whole or not at all, and never over another one.
enum ExclusiveFile {
  /// Writes a file for this user alone; durable when it returns.
  ///
  /// - Throws: `alreadyExists` when there is one of that name.
  static func create(_ path: String, _ bytes: SecretBuffer) throws(ProtectionError) {
    // A name of its own each time: the leftover of a crash must not be in the way.
    var temporary = Array("\(path).XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&temporary)
    guard descriptor >= 0 else { throw failure("be made", errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    defer {
      close(descriptor)
      _ = unsafe unlink(temporary)
    }
    let isWritten = unsafe bytes.withMemory { bytes in
      unsafe write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }
    guard isWritten, fsync(descriptor) == 0 else { throw failure("be written", errno) }
    guard unsafe link(temporary, path) == 0 else {
      if errno == EEXIST { throw ProtectionError(.alreadyExists, "There is a device key at \(path) already.") }
      throw failure("be put in its place", errno)
    }
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let directory = unsafe open(
      folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("be made durable", errno) }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("be made durable", errno) }
  }

  private static func failure(_ what: String, _ number: Int32) -> ProtectionError {
    ProtectionError(.io, "The file of the encrypted device key can't \(what).", errno: number)
  }
}
