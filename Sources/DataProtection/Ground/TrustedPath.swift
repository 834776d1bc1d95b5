import FileSystem

/// The way to a directory that isn't there yet, walked name by name.
enum TrustedPath {
  /// More links than this lead in a circle.
  private static let linkLimit = 40
  /// The permission bits of others and of the group that let them write.
  private static let foreignWriting: UInt32 = 0o022
  /// In such a directory nobody renames or removes another user's files.
  private static let sticky: UInt32 = 0o1000

  /// Makes a directory with those above it, and opens it.
  ///
  /// Links on the way are followed if the user or root has made them, and nobody else can write in a directory before them.
  /// Throws `.unsafeLocation` for any other link, or something else in a directory's place.
  static func make(_ path: String, _ fileSystem: any FileSystem) throws(ProtectionError) -> Descriptor {
    guard !names(path).isEmpty else {
      throw ProtectionError(.unsafeLocation, "The root directory can't hold a device; choose another.")
    }
    var directory = try root(fileSystem)
    do throws(ProtectionError) {
      try walk(path, &directory, fileSystem)
      return directory
    } catch {
      fileSystem.close(directory)
      throw error
    }
  }

  /// Puts the directory at the end of a path in the root's place.
  private static func walk(
    _ path: String, _ directory: inout Descriptor, _ fileSystem: any FileSystem
  ) throws(ProtectionError) {
    func go(to next: Descriptor) {
      fileSystem.close(directory)
      directory = next
    }
    var rest = names(path)
    var links = 0
    // Whether nobody else can have changed the way so far.
    var isTrusted = try mayFollow(in: directory, fileSystem)
    while let name = rest.first {
      do throws(ProtectionError) {
        let parent = directory
        let next = try attempt("open or make the directory \"\(path)\"") { () throws(FileSystemError) in
          do throws(FileSystemError) {
            return try fileSystem.openDirectory(name, in: parent)
          } catch  where error.code == .noSuchFile {
            try fileSystem.makeDurableDirectory(name, in: parent)
            return try fileSystem.openDirectory(name, in: parent)
          }
        }
        go(to: next)
        rest.removeFirst()
      } catch {
        switch (error.cause as? FileSystemError)?.code {
        case .symbolicLink?, .notDirectory?:
          links += 1
          guard links <= linkLimit, rest.count > 1 else { throw refusal(path, error) }
          let target = try follow(name, in: directory, isTrusted: isTrusted, path, error, fileSystem)
          rest = names(target) + rest.dropFirst()
          if target.hasPrefix("/") { go(to: try root(fileSystem)) }
        case .accessDenied?: throw refusal(path, error)
        default: throw error
        }
      }
      if try !mayFollow(in: directory, fileSystem) { isTrusted = false }
    }
  }

  private static func names(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

  private static func root(_ fileSystem: any FileSystem) throws(ProtectionError) -> Descriptor {
    try attempt("open the root directory") { () throws(FileSystemError) in try fileSystem.openDirectory(atPath: "/") }
  }

  /// Where a link on the way leads; throws `.unsafeLocation` for one that is not to be followed.
  private static func follow(
    _ name: String, in directory: Descriptor, isTrusted: Bool, _ path: String, _ error: ProtectionError,
    _ fileSystem: any FileSystem
  ) throws(ProtectionError) -> String {
    let status = try attempt("look at a link") { () throws(FileSystemError) in
      try fileSystem.status(ofName: name, in: directory)
    }
    guard status.kind == .symbolicLink, isTrusted, isOwn(status, fileSystem) else { throw refusal(path, error) }
    return try attempt("read a link") { () throws(FileSystemError) in
      try fileSystem.readLink(name, in: directory)
    }
  }

  /// Whether nobody but the user and root can put a link into a directory, or exchange one that is theirs.
  private static func mayFollow(
    in directory: Descriptor, _ fileSystem: any FileSystem
  ) throws(ProtectionError) -> Bool {
    let status = try attempt("look at a directory") { () throws(FileSystemError) in
      try fileSystem.status(of: directory)
    }
    return isOwn(status, fileSystem) && (status.mode & foreignWriting == 0 || status.mode & sticky != 0)
  }

  private static func isOwn(_ status: FileStatus, _ fileSystem: any FileSystem) -> Bool {
    status.owner == 0 || status.owner == fileSystem.currentUser
  }

  private static func refusal(_ path: String, _ error: ProtectionError) -> ProtectionError {
    let cause = error.cause as? FileSystemError
    guard cause?.code != .accessDenied else {
      return ProtectionError(
        .unsafeLocation, "\"\(path)\" can't be entered; choose a directory of your own, or check its owner and mode.",
        errno: cause?.code.rawValue, cause: cause)
    }
    return ProtectionError(
      .unsafeLocation,
      "On the way to \"\(path)\" is no directory, or a link that somebody else has made or can exchange; "
        + "choose a directory of your own.", errno: cause?.code.rawValue, cause: cause)
  }
}
