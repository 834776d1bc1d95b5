import FileSystem

extension DeviceDirectory {
  /// The directory of the protected files.
  static let filesName = "files"

  /// Names that say nothing about whether something was sealed.
  private static let innocentNames: Set<String> = ["lock", CacheDirectoryTag.name]

  /// Whether a ledger or a sealed file is anywhere below: then keys must never be made anew on their own.
  func hasSealedFiles() throws(ProtectionError) -> Bool {
    if try hasItem(SlotList.fileName, in: descriptor) { return true }
    for name in [StoreDirectory.name, Self.filesName] {
      if try hasContent(name, in: descriptor) { return true }
    }
    return false
  }

  /// Whether neither keys nor anything sealed are here; throws when that can't be seen.
  func isUnused() throws(ProtectionError) -> Bool {
    guard owned != nil else { return true }
    let names = try attempt("list the device's directory") { () throws(FileSystemError) in
      try fileSystem.names(in: descriptor)
    }
    guard KeybagStorage.revisions(names, KeybagStorage.keybagPrefix).isEmpty else { return false }
    return try !hasSealedFiles()
  }

  private func hasContent(_ name: String, in parent: Descriptor) throws(ProtectionError) -> Bool {
    guard let directory = try openSubdirectory(name, in: parent) else { return false }
    defer { fileSystem.close(directory) }
    for name in try attempt(
      "look for sealed files",
      { () throws(FileSystemError) in
        try fileSystem.names(in: directory)
      }) where !Self.innocentNames.contains(name) && !name.hasPrefix(Self.temporaryPrefix)
    {
      // Who goes on writing may have removed it meanwhile.
      let status = try attempt("look for sealed files") { () throws(FileSystemError) in
        try fileSystem.statusIfAny(ofName: name, in: directory)
      }
      guard let status else { continue }
      guard status.kind == .directory else { return true }
      if try hasContent(name, in: directory) { return true }
    }
    return false
  }

  /// Removes everything that depends on the keys; the keys' own files and the locks stay.
  ///
  /// Not durable yet: the next step, the end of the keybags or a new one, synchronises the same names.
  func removeContent() throws(ProtectionError) {
    for name in [StoreDirectory.name, Self.filesName] { try removeItem(name, in: descriptor) }
    for name in [SlotList.fileName, SlotList.newFileName, AttemptRecord.fileName] { try clear(name) }
  }

  /// Removes a directory with all in it, or anything else of that name; follows no link.
  ///
  /// Nothing is looked at before: a directory may come after the look.
  private func removeItem(_ name: String, in parent: Descriptor) throws(ProtectionError) {
    do throws(ProtectionError) {
      try remove(name, in: parent)
    } catch  where (error.cause as? FileSystemError)?.code == .isDirectory {
      try removeTree(name, in: parent)
    }
  }

  /// Removes a directory and all in it, also while somebody who doesn't know yet goes on writing there.
  private func removeTree(_ name: String, in parent: Descriptor) throws(ProtectionError) {
    guard let directory = try openSubdirectory(name, in: parent) else { return }
    defer { fileSystem.close(directory) }
    for _ in 0..<Self.removalLimit {
      let names = try attempt("erase") { () throws(FileSystemError) in try fileSystem.names(in: directory) }
      for name in names { try removeItem(name, in: directory) }
      let isGone = try attempt("erase") { () throws(FileSystemError) in
        do throws(FileSystemError) {
          try fileSystem.removeDirectory(name, in: parent)
          return true
        } catch  where error.code == .notEmpty {
          return false
        }
      }
      if isGone { return }
    }
    throw ProtectionError(.busy, "Something goes on writing to the device while it is erased; stop it and erase again.")
  }

  /// So often a directory that fills again is emptied.
  private static let removalLimit = 16

  private func openSubdirectory(_ name: String, in parent: Descriptor) throws(ProtectionError) -> Descriptor? {
    do throws(FileSystemError) {
      return try uninterrupted { () throws(FileSystemError) in try fileSystem.openDirectory(name, in: parent) }
    } catch  where error.code == .noSuchFile {
      return nil
    } catch {
      throw ProtectionError(
        .io, "The directory \"\(name)\" can't be opened; check its owner and mode.", errno: error.code.rawValue,
        cause: error)
    }
  }
}

extension DeviceDirectory {
  /// Opens a directory below this one, and makes it, durably, when it isn't there; the caller closes it.
  ///
  /// - Parameter clears: Whether a file or link in its place makes room for it.
  func makeSubdirectory(
    _ name: String, in parent: Descriptor, clears: Bool = false
  ) throws(ProtectionError) -> Descriptor {
    do throws(ProtectionError) {
      if let found = try openSubdirectory(name, in: parent) { return found }
    } catch {
      let code = (error.cause as? FileSystemError)?.code
      guard clears, code == .notDirectory || code == .symbolicLink else { throw error }
      // This removes no directory: one that another process makes meanwhile stays.
      try attempt("make room for a directory") { () throws(FileSystemError) in
        try fileSystem.unlink(name, in: parent)
      }
    }
    return try attempt("make a directory") { () throws(FileSystemError) in
      try fileSystem.makeDurableDirectory(name, in: parent)
      return try fileSystem.openDirectory(name, in: parent)
    }
  }

  /// Whether there is a directory of that name.
  func hasSubdirectory(_ name: String, in parent: Descriptor) throws(ProtectionError) -> Bool {
    try kind(of: name, in: parent) == .directory
  }

  /// Whether there is anything of that name but an empty directory, which a crash may have left.
  func isOccupied(_ name: String, in parent: Descriptor) throws(ProtectionError) -> Bool {
    guard let kind = try kind(of: name, in: parent) else { return false }
    guard kind == .directory, let directory = try openSubdirectory(name, in: parent) else { return true }
    defer { fileSystem.close(directory) }
    return try !attempt("look at a directory") { () throws(FileSystemError) in
      try fileSystem.names(in: directory)
    }.isEmpty
  }

  /// Whether there is anything of that name.
  func hasItem(_ name: String, in parent: Descriptor) throws(ProtectionError) -> Bool {
    try kind(of: name, in: parent) != nil
  }

  private func kind(of name: String, in parent: Descriptor) throws(ProtectionError) -> FileStatus.Kind? {
    try attempt("look at a directory") { () throws(FileSystemError) in
      try fileSystem.statusIfAny(ofName: name, in: parent)?.kind
    }
  }
}
