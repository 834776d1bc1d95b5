import FileSystem
import FoundationEssentials

/// What may be done in a store's directory while its lock is held.
struct StoreSession: ~Copyable {
  let store: StoreDirectory

  /// Only `StoreDirectory.withLock` makes one.
  init(_ store: StoreDirectory) {
    self.store = store
  }

  private var fileSystem: any FileSystem { store.fileSystem }

  // MARK: Looking

  /// All names that the store itself could have written.
  ///
  /// Temporaries that a crash left are swept here.
  func names() throws(ProtectionError) -> [StoreName] {
    let texts = try attempt("list the store") { () throws(FileSystemError) in
      try fileSystem.names(in: store.directory)
    }
    return texts.compactMap { text in
      guard let name = StoreName(text) else { return nil }
      guard case .temporary = name else { return name }
      // We hold the lock, so nobody is writing it. If it can't go now, the next session tries again.
      try? fileSystem.unlink(text, in: store.directory)
      return nil
    }
  }

  /// Opens a file that must be regular, ours and have one name; `nil` when there is none.
  ///
  /// Throws `.corrupt` for anything else that stands in its place.
  func open(_ name: StoreName) throws(ProtectionError) -> StoreFile? {
    let descriptor: Descriptor
    do throws(FileSystemError) {
      descriptor = try opening(name)
    } catch {
      switch error.code {
      case .noSuchFile: return nil
      case .symbolicLink, .isDirectory, .noSuchDevice:
        throw ProtectionError(.corrupt, "Something that is no regular file was put in an archive's place.")
      default:
        throw ProtectionError(
          .io, "The operating system failed to open an archive; it was left as it is.",
          errno: error.code.rawValue, cause: error)
      }
    }
    do throws(ProtectionError) {
      let status = try attempt("look at an archive") { () throws(FileSystemError) in
        try fileSystem.status(of: descriptor)
      }
      guard TrustedDirectory.isTarget(status, user: fileSystem.currentUser) else {
        throw ProtectionError(.corrupt, "A link, a special file or somebody else's file was put in an archive's place.")
      }
      return StoreFile(fileSystem, descriptor, byteCount: Int(clamping: status.byteCount))
    } catch {
      fileSystem.close(descriptor)
      throw error
    }
  }

  private func opening(_ name: StoreName) throws(FileSystemError) -> Descriptor {
    while true {
      do throws(FileSystemError) {
        return try fileSystem.openFile(name.text, in: store.directory, [])
      } catch  where error.code == .interrupted {
        continue
      }
    }
  }

  // MARK: Writing

  /// Writes a file whole and durably under a name that is free.
  ///
  /// The name itself is not durable yet.
  ///
  /// It has no name before it is synchronised, so that a crash leaves nothing or all of it. Throws
  /// `.alreadyExists` when the name is taken; nothing is left behind then, as on any other error.
  func create(
    _ name: StoreName, _ content: Data, allocating length: Int = 0
  ) throws(ProtectionError) -> StoreFile {
    var temporary: StoreName?
    let descriptor = try openTemporary(named: &temporary)
    let file = StoreFile(fileSystem, descriptor, byteCount: content.count)
    do throws(ProtectionError) {
      try fill(descriptor, content, allocating: length)
      do throws(FileSystemError) {
        if let temporary {
          try uninterrupted { () throws(FileSystemError) in
            try fileSystem.rename(temporary.text, to: name.text, in: store.directory, replacing: false)
          }
        } else {
          try uninterrupted { () throws(FileSystemError) in
            try fileSystem.link(descriptor, as: name.text, in: store.directory)
          }
        }
      } catch  where error.code == .fileExists {
        throw ProtectionError(.alreadyExists, "The name of the new generation is taken.", cause: error)
      } catch {
        throw ProtectionError(
          .io, "The operating system failed to name a new file; what was saved before is still there.",
          errno: error.code.rawValue, cause: error)
      }
      return file
    } catch {
      if let temporary { try? fileSystem.unlink(temporary.text, in: store.directory) }
      throw error
    }
  }

  /// Replaces a file whole and durably, name included; it is the old or the new one at any moment.
  ///
  /// Returns whether the name is durable as well: `false` if only the last sync, of the directory, failed.
  func replace(_ name: StoreName, _ content: Data) throws(ProtectionError) -> Bool {
    _ = try create(inPlaceOf: name, content)
    return synchronizeDirectory()
  }

  /// Makes a file in the place of whatever has its name; it is the old or the new one at any moment.
  ///
  /// The name itself is not durable yet.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - content: What is in the file.
  ///   - prepare: What is done with the file before it has the name.
  func create(
    inPlaceOf name: StoreName, _ content: Data,
    preparing prepare: (Descriptor) throws(ProtectionError) -> Void = { _ in }
  ) throws(ProtectionError) -> StoreFile {
    let temporary = StoreName.temporary(number: UInt64.random(in: .min ... .max))
    let descriptor = try attempt("make a temporary file") { () throws(FileSystemError) in
      try fileSystem.openFile(temporary.text, in: store.directory, [.write, .create, .exclusive])
    }
    let file = StoreFile(fileSystem, descriptor, byteCount: content.count)
    do throws(ProtectionError) {
      try fill(descriptor, content, allocating: 0)
      try prepare(descriptor)
      try attempt("replace a file") { () throws(FileSystemError) in
        try fileSystem.rename(temporary.text, to: name.text, in: store.directory, replacing: true)
      }
    } catch {
      try? fileSystem.unlink(temporary.text, in: store.directory)
      throw error
    }
    return file
  }

  /// Opens a nameless file; where there are none, one with a temporary name, which is returned.
  private func openTemporary(named temporary: inout StoreName?) throws(ProtectionError) -> Descriptor {
    do throws(FileSystemError) {
      return try fileSystem.openTemporary(in: store.directory)
    } catch {
      // Not every file system has nameless files, and they say so in different ways; the other way decides.
      let name = StoreName.temporary(number: UInt64.random(in: .min ... .max))
      let descriptor = try attempt("make a temporary file") { () throws(FileSystemError) in
        try fileSystem.openFile(name.text, in: store.directory, [.write, .create, .exclusive])
      }
      temporary = name
      return descriptor
    }
  }

  private func fill(
    _ descriptor: Descriptor, _ content: Data, allocating length: Int
  ) throws(ProtectionError) {
    if length > content.count {
      do throws(FileSystemError) {
        try fileSystem.allocate(descriptor, length: Int64(length))
      } catch  where error.code == .notSupported || error.code == .interrupted {
        // Then the file grows as it is written.
      } catch {
        throw ProtectionError(
          .io, "There was no room for a new file; what was saved before is still there.",
          errno: error.code.rawValue, cause: error)
      }
    }
    try attempt("write a new file") { () throws(FileSystemError) in
      try fileSystem.writeAll(descriptor, content.bytes, at: 0)
    }
    // Once, and never again on this descriptor: after a failure the kernel forgets what it could not write, and a
    // second sync would succeed without it. The next save writes a new file. A sync that a signal cut short has not
    // failed: nothing is forgotten.
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(descriptor) }
    } catch {
      throw ProtectionError(
        .io, "The disk failed to take a new file; what was saved before is still there.",
        errno: error.code.rawValue, cause: error)
    }
  }

  /// Makes the names in the directory durable; `false` when that failed.
  func synchronizeDirectory() -> Bool {
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try fileSystem.synchronize(store.directory) }
      return true
    } catch {
      return false
    }
  }

  // MARK: Removing

  /// Removes a name; it doesn't matter if it is gone already.
  func unlink(_ name: StoreName) throws(ProtectionError) {
    try attempt("delete a file") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        try fileSystem.unlink(name.text, in: store.directory)
      } catch  where error.code == .noSuchFile {
        // Somebody else did it.
      }
    }
  }

  /// Keeps damaged material under a name that can't be taken for a generation, and not too much of it.
  func setAside(_ name: StoreName) {
    // Looked for each time: one step may set several aside.
    guard let names = try? names() else { return }
    let number = (names.compactMap(\.asideNumber).max() ?? 0) &+ 1
    let target: StoreName =
      name == .ledger ? .ledgerSetAside(number: number) : .setAside(slot: name.slot!, number: number)
    // What can't be moved stays in its place, where it does no harm.
    try? fileSystem.rename(name.text, to: target.text, in: store.directory, replacing: false)
    boundSetAside(names + [target])
  }

  /// At most so many files, and so many bytes, are kept aside; the oldest go first.
  private func boundSetAside(_ names: [StoreName]) {
    let numbered = names.compactMap { name in name.asideNumber.map { (number: $0, name: name) } }
    var count = 0
    var bytes: Int64 = 0
    for (_, name) in numbered.sorted(by: { $0.number > $1.number }) {
      count += 1
      bytes += (try? fileSystem.status(ofName: name.text, in: store.directory).byteCount) ?? 0
      guard count > StoreSession.setAsideFileLimit || bytes > StoreSession.setAsideByteLimit else { continue }
      try? fileSystem.unlink(name.text, in: store.directory)
    }
  }

  /// The number of damaged files that are kept.
  static let setAsideFileLimit = 4
  /// The bytes of damaged files that are kept.
  static let setAsideByteLimit: Int64 = 64 << 20
}
