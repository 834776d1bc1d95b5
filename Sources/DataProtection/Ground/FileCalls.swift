import FileSystem

/// Makes a system call, again when it was interrupted, and says in words what failed.
///
/// A sync that failed must not be tried again: the second one proves nothing.
func attempt<R>(
  _ what: @autoclosure () -> String, _ body: () throws(FileSystemError) -> R
) throws(ProtectionError) -> R {
  while true {
    do throws(FileSystemError) {
      return try body()
    } catch  where error.code == .interrupted {
      continue
    } catch {
      throw ProtectionError(failedTo: what(), error)
    }
  }
}

extension FileSystemError.Code {
  /// Whether a call failed because something that is no regular file stands in a file's place.
  var isNoFile: Bool { [.symbolicLink, .isDirectory, .noSuchDevice, .illegalSeek].contains(self) }
}

extension FileSystem {
  /// The status at a path; nil when there is nothing.
  func statusIfAny(atPath path: String) throws(FileSystemError) -> FileStatus? {
    do throws(FileSystemError) {
      return try status(atPath: path)
    } catch  where error.code == .noSuchFile || error.code == .notDirectory {
      return nil
    }
  }

  /// The status of a name; nil when there is none.
  func statusIfAny(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus? {
    do throws(FileSystemError) {
      return try status(ofName: name, in: directory)
    } catch  where error.code == .noSuchFile {
      return nil
    }
  }

  /// Makes a directory whose name is durable, or none.
  func makeDurableDirectory(_ name: String, in parent: Descriptor) throws(FileSystemError) {
    do throws(FileSystemError) {
      try makeDirectory(name, in: parent, mode: 0o700)
    } catch  where error.code == .fileExists {
      // Another process was first; its directory is as good.
    }
    do throws(FileSystemError) {
      try synchronize(parent)
    } catch {
      // A directory whose name may not last must not be taken for one whose name does.
      if error.code != .interrupted { try? removeDirectory(name, in: parent) }
      throw error
    }
  }

  /// Syncs; throws `.durabilityUnknown` with a sentence of the caller's when that failed.
  func synchronize(_ descriptor: Descriptor, orSay text: String) throws(ProtectionError) {
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try synchronize(descriptor) }
    } catch {
      throw ProtectionError(.durabilityUnknown, text, errno: error.code.rawValue, cause: error)
    }
  }
}

extension ProtectionError {
  /// What the operating system refused; a full disk is said so, because somebody can do something about it.
  init(failedTo what: String, _ error: FileSystemError) {
    let reason =
      switch error.code {
      case .noSpace: ": the disk is full"
      case .quotaExceeded: ": your quota of the disk is used up"
      case .readOnlyFileSystem: ": the volume is mounted read-only"
      default: ""
      }
    self.init(
      .io, "The operating system failed to \(what)\(reason); nothing saved before is lost.",
      errno: error.code.rawValue, cause: error)
  }
}

extension ProtectionError {
  /// Whether nothing can be written now, though nothing is damaged: the disk or a quota is full, or the volume is read-only.
  package var isScarceRoom: Bool {
    let codes: [FileSystemError.Code] = [.noSpace, .quotaExceeded, .readOnlyFileSystem]
    return codes.contains { $0.rawValue == errno }
  }
}

/// Makes a call again for as long as a signal interrupts it.
func uninterrupted<R>(_ body: () throws(FileSystemError) -> R) throws(FileSystemError) -> R {
  while true {
    do throws(FileSystemError) {
      return try body()
    } catch  where error.code == .interrupted {
      continue
    }
  }
}

extension ProtectionError {
  /// The refusal of what needs the device's directory, as long as that could not be made.
  static let notMade = ProtectionError(
    .io, "The device could not be made yet, as nothing can be written in its place; make room there, and try again.")
}
