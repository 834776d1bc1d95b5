import FileSystem

extension DeviceDirectory {
  /// Writes a new file, whole and durably with its name; `.alreadyExists` when the name is taken.
  ///
  /// If it throws, the file isn't there; after `.durabilityUnknown` a power cut may bring it back, whole.
  func create(_ name: String, _ bytes: RawSpan) throws(ProtectionError) {
    try write(bytes) { (temporary) throws(FileSystemError) in
      try fileSystem.rename(temporary, to: name, in: descriptor, replacing: false)
    }
    do throws(ProtectionError) {
      try synchronize()
    } catch {
      // After a failed sync no later one proves anything: nobody may go on from a name that may not last.
      try? fileSystem.unlink(name, in: descriptor)
      throw error
    }
  }

  /// Writes a new file as ``create(_:_:)`` does, so that its bytes are never in a block that no name leads to.
  ///
  /// The file gets its space and its name, durably, before the secret is written: then whatever happens, an overwrite
  /// in place can take the secret from the disk again. If this throws, the secret was taken away, or a later opening or
  /// erase does it.
  func createSecret(_ name: String, _ bytes: RawSpan) throws(ProtectionError) {
    let temporary = Self.temporaryName()
    let file = try attempt("make a file") { () throws(FileSystemError) in
      try fileSystem.openFile(temporary, in: descriptor, [.write, .create, .exclusive])
    }
    defer { fileSystem.close(file) }
    do throws(FileSystemError) {
      let zeroes = [UInt8](repeating: 0, count: bytes.byteCount)
      try unsafe fileSystem.writeAll(file, zeroes.span.bytes, at: 0)
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(file) }
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(descriptor) }
      try fileSystem.writeAll(file, bytes, at: 0)
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(file) }
      try uninterrupted { () throws(FileSystemError) in
        try fileSystem.rename(temporary, to: name, in: descriptor, replacing: false)
      }
    } catch {
      try? discard(temporary)
      throw Self.failure(toWrite: error)
    }
    do throws(ProtectionError) {
      try synchronize()
    } catch {
      // As in `create`; until it is gone, its old name says that it counts for nothing.
      try? fileSystem.rename(name, to: temporary, in: descriptor, replacing: false)
      try? discard(temporary)
      throw error
    }
  }

  /// Removes a file that was being written, once its bytes are overwritten.
  ///
  /// If it throws, the name stays, so that it can be tried again. Not durable yet.
  func discard(_ temporary: String) throws(ProtectionError) {
    try overwriteSecret(temporary)
    try remove(temporary)
  }

  private static func temporaryName() -> String {
    temporaryPrefix + hexadecimal((0..<8).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Replaces a file or makes it, whole and durably; it is the old or the new one at any moment.
  func replace(_ name: String, _ bytes: RawSpan) throws(ProtectionError) {
    try write(bytes) { (temporary) throws(FileSystemError) in
      try fileSystem.rename(temporary, to: name, in: descriptor, replacing: true)
    }
    try synchronize()
  }

  /// Makes the directory's names durable.
  func synchronize() throws(ProtectionError) {
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(descriptor) }
    } catch {
      throw ProtectionError(
        .durabilityUnknown,
        "The device's directory could not be synchronised; whether the change survives a power cut is not known.",
        errno: error.code.rawValue, cause: error)
    }
  }

  /// Removes a file's name; nothing happens when there is none.
  ///
  /// Not durable yet.
  func remove(_ name: String) throws(ProtectionError) {
    try remove(name, in: descriptor)
  }

  /// Frees a name: its file is removed, a directory of somebody else's goes on under another name.
  ///
  /// Not durable yet.
  func clear(_ name: String) throws(ProtectionError) {
    do throws(ProtectionError) {
      try remove(name)
    } catch {
      guard (error.cause as? FileSystemError)?.code == .isDirectory else { throw error }
      let other = "\(name).aside-\(hexadecimal((0..<8).map { _ in UInt8.random(in: .min ... .max) }))"
      try attempt("move the directory \"\(name)\" out of the way") { () throws(FileSystemError) in
        try fileSystem.rename(name, to: other, in: descriptor, replacing: false)
      }
    }
  }

  /// Removes a file's name from a directory below; nothing happens when there is none.
  func remove(_ name: String, in directory: Descriptor) throws(ProtectionError) {
    try attempt("remove \"\(name)\"") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        try fileSystem.unlink(name, in: directory)
      } catch  where error.code == .noSuchFile {
        // Gone already.
      }
    }
  }

  /// Overwrites the bytes of a file that holds a key, in place and durably: they can't be read from this disk again.
  ///
  /// A file of ours with a second name is overwritten too. Anything else in its place holds no key and is left alone.
  func overwriteSecret(_ name: String) throws(ProtectionError) {
    let opened: Descriptor
    do throws(FileSystemError) {
      opened = try uninterrupted { () throws(FileSystemError) in
        try fileSystem.openFile(name, in: descriptor, .write)
      }
    } catch {
      if error.code == .noSuchFile || error.code.isNoFile { return }
      throw ProtectionError(failedTo: "overwrite \"\(name)\"", error)
    }
    defer { fileSystem.close(opened) }
    let isOverwritten = try attempt("overwrite \"\(name)\"") { () throws(FileSystemError) in
      let status = try fileSystem.status(of: opened)
      guard status.kind == .regular, status.owner == user, status.byteCount > 0 else { return false }
      // A second name may also be that of another file of the user's.
      if status.linkCount > 1, status.byteCount != ProtectedDevice.Key.byteCount {
        guard try fileSystem.readBytes(opened, count: Effaceable.magic.count) == Effaceable.magic else { return false }
      }
      let zeroes = [UInt8](repeating: 0, count: min(Int(clamping: status.byteCount), Effaceable.byteCount))
      try unsafe fileSystem.writeAll(opened, zeroes.span.bytes, at: 0)
      return true
    }
    guard isOverwritten else { return }
    do throws(FileSystemError) {
      // Once: after a failed sync a second one may lie.
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(opened) }
    } catch {
      throw ProtectionError(
        .io, "The old keys were overwritten, but could not be synchronised; open the device again to repeat it.",
        errno: error.code.rawValue, cause: error)
    }
  }

  private func write(
    _ bytes: RawSpan, publishing publish: (String) throws(FileSystemError) -> Void
  ) throws(ProtectionError) {
    let temporary = Self.temporaryName()
    let file = try attempt("make a file") { () throws(FileSystemError) in
      try fileSystem.openFile(temporary, in: descriptor, [.write, .create, .exclusive])
    }
    defer { fileSystem.close(file) }
    do throws(FileSystemError) {
      try fileSystem.writeAll(file, bytes, at: 0)
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(file) }
      try uninterrupted { () throws(FileSystemError) in try publish(temporary) }
    } catch {
      try? fileSystem.unlink(temporary, in: descriptor)
      throw Self.failure(toWrite: error)
    }
  }

  private static func failure(toWrite error: FileSystemError) -> ProtectionError {
    var failure = ProtectionError(failedTo: "write the device's keys", error)
    if error.code == .fileExists { failure.code = .alreadyExists }
    return failure
  }
}
