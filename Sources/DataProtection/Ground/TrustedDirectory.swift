import FileSystem

/// What a directory and its lock file must be like before anything in them is believed.
enum TrustedDirectory {
  /// The permission bits that must not be there.
  private static let foreignBits: UInt32 = 0o077

  /// Throws `.unsafeLocation` unless an open directory is ours, closed to others, and on a volume that keeps its word.
  ///
  /// - Parameters:
  ///   - directory: The directory, opened without following a link.
  ///   - name: What to call it in an error, as the beginning of a sentence.
  ///   - known: A volume that was found good already.
  /// - Returns: The directory's volume.
  static func check(
    _ directory: Descriptor, called name: String, _ fileSystem: any FileSystem, allowsNetworkVolumes: Bool,
    known: TrustedVolume? = nil
  ) throws(ProtectionError) -> TrustedVolume {
    let (status, volume) = try attempt("look at a directory") { () throws(FileSystemError) in
      let status = try fileSystem.status(of: directory)
      if let known, known.device == status.device { return (status, known) }
      return (status, TrustedVolume(device: status.device, kind: try fileSystem.volumeKind(of: directory)))
    }
    guard status.owner == fileSystem.currentUser else {
      throw ProtectionError(.unsafeLocation, "\(name) belongs to user \(status.owner); choose a directory of your own.")
    }
    guard status.mode & foreignBits == 0 else {
      throw ProtectionError(.unsafeLocation, "\(name) is open to others; give it mode 0700 (chmod go-rwx).")
    }
    guard volume.kind != .network || allowsNetworkVolumes else {
      throw ProtectionError(
        .unsafeLocation,
        "\(name) is on a network volume, where locks and syncs can't be relied on; move it, or opt in.")
    }
    return volume
  }

  /// Opens the permanent lock file of a directory; a directory without one is new, and `whenNew` runs before it is made.
  ///
  /// That is the place for making the directory's own name durable: whoever finds the lock may rely on it. The file's owner
  /// and names are not looked at: it is locked, and nothing is ever written into it.
  static func openLock(
    _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem,
    whenNew: () throws(FileSystemError) -> Void = {}
  ) throws(ProtectionError) -> Descriptor {
    do throws(ProtectionError) {
      return try attempt("open the lock file \"\(name)\"") { () throws(FileSystemError) in
        do throws(FileSystemError) {
          return try fileSystem.openFile(name, in: directory, .write)
        } catch  where error.code == .noSuchFile {
          try whenNew()
          return try fileSystem.openFile(name, in: directory, [.write, .create])
        }
      }
    } catch  where (error.cause as? FileSystemError)?.code.isNoFile == true {
      throw ProtectionError(
        .io, "Something that is no file stands in place of the lock \"\(name)\"; remove it, and try again.",
        errno: error.errno, cause: error.cause)
    }
  }

  /// Opens the permanent lock file of one of the store's directories; anything else in its place makes room for one.
  ///
  /// The directory is locked for that: it must not be one that anybody keeps locked, as a device's is.
  static func openStoreLock(
    _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem, patience: Duration
  ) throws(ProtectionError) -> Descriptor {
    do throws(ProtectionError) {
      return try openLock(name, in: directory, fileSystem)
    } catch  where (error.cause as? FileSystemError)?.code.isNoFile == true {
      // One process at a time: nobody may take the lock away that another one has just made.
      try attempt("replace a lock file") { () throws(FileSystemError) in
        guard try fileSystem.lock(directory, .exclusive, patience: patience) else { return }
        defer { try? fileSystem.unlock(directory) }
        if let status = try fileSystem.statusIfAny(ofName: name, in: directory), status.kind != .regular {
          try clearName(name, in: directory, fileSystem)
        }
      }
      return try openLock(name, in: directory, fileSystem)
    }
  }

  /// Opens the lock file of one of the store's directories; for reading alone on a read-only volume.
  ///
  /// There it may be missing: nobody can write what it would guard.
  static func openLockOrRead(
    _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem, patience: Duration
  ) throws(ProtectionError) -> (lock: Descriptor?, isReadOnly: Bool) {
    do throws(ProtectionError) {
      return (try openStoreLock(name, in: directory, fileSystem, patience: patience), false)
    } catch {
      guard (error.cause as? FileSystemError)?.code == .readOnlyFileSystem else { throw error }
    }
    let lock = try attempt("open a lock file for reading") { () throws(FileSystemError) -> Descriptor? in
      do throws(FileSystemError) {
        return try fileSystem.openFile(name, in: directory, [])
      } catch  where error.code == .noSuchFile {
        return nil
      }
    }
    return (lock, true)
  }

  /// Whether a file may be changed in place: ours, with one name.
  ///
  /// For reading, its authentication suffices.
  static func mayChange(_ status: FileStatus, user: UInt32) -> Bool {
    status.kind == .regular && status.owner == user && status.linkCount == 1
  }
}
