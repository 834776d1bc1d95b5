import FileSystem

/// The mark by which backup programs leave a directory out (the Cache Directory Tagging Specification).
///
/// GNU tar's `--exclude-caches`, borg, restic and their like honour it.
enum CacheDirectoryTag {
  /// The file's name.
  static let name = "CACHEDIR.TAG"
  /// What it must begin with, and lines for people.
  static let content =
    """
    Signature: 8a477f597d28d172789f06886806bc55
    # State that its program can do without. Backup programs leave this directory out.
    # See https://bford.info/cachedir/

    """

  /// Marks a directory, durably, unless it is marked; if that fails it is tried again at the next opening, and nothing else
  /// depends on it.
  static func write(in directory: Descriptor, _ fileSystem: any FileSystem) {
    guard (try? isThere(in: directory, fileSystem)) == false else { return }
    try? replaceFile(name, by: "\(name).new", in: directory, with: Array(content.utf8), fileSystem)
    try? fileSystem.synchronize(directory)
  }

  /// Whether a directory is marked.
  static func isThere(in directory: Descriptor, _ fileSystem: any FileSystem) throws(ProtectionError) -> Bool {
    do throws(FileSystemError) {
      return try uninterrupted { () throws(FileSystemError) in
        try fileSystem.status(ofName: name, in: directory).kind == .regular
      }
    } catch  where error.code == .noSuchFile {
      return false
    } catch {
      throw ProtectionError(
        .io, "The operating system failed to look at the backup mark.", errno: error.code.rawValue, cause: error)
    }
  }

  /// Takes the mark away.
  static func remove(in directory: Descriptor, _ fileSystem: any FileSystem) throws(ProtectionError) {
    try attempt("take the backup mark away") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        try fileSystem.unlink(name, in: directory)
      } catch  where error.code == .noSuchFile {
        // Gone already.
      }
    }
  }
}
