public import FoundationShim

/// A flat directory of protected files on a device.
///
/// ```swift
/// let drafts = try device.files(in: "drafts")
/// try drafts.create("letter", contents: Data("Dear …".utf8), protection: .completeUnlessOpen)
/// for file in try drafts.list() { print(file.name, file.protection, file.byteCount) }
/// ```
///
/// The file's class decides on access while the device is locked, see ``ProtectionClass``; a refusal is
/// always `locked`, a file that isn't there always `notFound`. Listing, renaming and deleting are always allowed. Names
/// are any strings of at most 1024 bytes: they are sealed too, and never become part of a path. Their bytes decide: "é"
/// in one piece and in two, which Swift calls equal, name two files.
///
/// Every call is synchronous, blocks on the disk and may come from any thread; keep them off the main actor. Each
/// write is durable when it returns and leaves the old or the new content, whole, in any event; so does appending, and
/// changing a range, which write little more than the bytes.
public struct ProtectedFiles: Sendable {
  let collection: FileCollection

  /// The directory's name.
  package var name: String { collection.name }

  // MARK: Creating and writing

  /// Creates a file.
  ///
  /// - Parameters:
  ///   - name: Its name, which must be free.
  ///   - contents: Its content.
  ///   - protection: Its class; `nil` for the directory's default.
  /// - Returns: An open handle. That of a `completeUnlessOpen` file created while locked stays usable until it is
  ///   closed.
  /// - Throws: `alreadyExists`; `locked` when files of this class can't be created now; `busy`, `io`; no file then.
  ///   `durabilityUnknown`: the file is there but may not survive a power cut.
  @discardableResult
  public func create(
    _ name: String, contents: Data = Data(), protection: ProtectionClass? = nil
  ) throws(ProtectionError) -> ProtectedFiles.Handle {
    try Self.check(name)
    let (entry, handle) = try collection.change { index throws(ProtectionError) in
      guard index[name] == nil else { throw Self.taken(name) }
      let made = try collection.make(
        contents, protection ?? index.defaultProtection, created: Date().timeIntervalSince1970)
      index[name] = made.entry
      return (
        made.entry,
        try ProtectedFiles.Handle(collection, made.entry, made.store, written: contents, made.receipt.generation)
      )
    }
    collection.didName(entry)
    return handle
  }

  /// Replaces the content of a file, or creates the file with the directory's default class.
  ///
  /// - Parameters:
  ///   - contents: Its new content.
  ///   - name: Its name.
  /// - Throws: `locked` when the file exists and can't be opened now, or doesn't and can't be created now; nothing has
  ///   changed then. `busy`, `io`, `durabilityUnknown` as for ``create(_:contents:protection:)``.
  public func write(_ contents: Data, to name: String) throws(ProtectionError) {
    for _ in 0..<Self.replacementLimit {
      do throws(ProtectionError) {
        let entry = try entry(name)
        // Replacing is opening and truncating: while locked, only creating is allowed.
        try collection.requireOpening(entry.protection)
        _ = try collection.replace(entry, by: contents, in: collection.contents(of: entry))
        return
      } catch  where error.code == .superseded {
        // Somebody deleted it, or gave it another class, between the two steps: begin anew with the present file.
        continue
      } catch  where error.code == .notFound {
        return try create(name, contents: contents).close()
      }
    }
    throw ProtectionError(.busy, "Somebody replaces \"\(name)\" as often as it is opened; try again.")
  }

  /// Puts bytes behind a file's content, or creates the file with the directory's default class.
  ///
  /// See ``ProtectedFiles/Handle/append(_:)``; a handle that is kept open does it again and again without reading anything.
  ///
  /// - Parameters:
  ///   - bytes: What follows.
  ///   - name: The file's name.
  /// - Throws: As ``write(_:to:)``.
  public func append(_ bytes: Data, to name: String) throws(ProtectionError) {
    do throws(ProtectionError) {
      try change(name) { handle throws(ProtectionError) in try handle.append(bytes) }
    } catch  where error.code == .notFound {
      try create(name, contents: bytes).close()
    }
  }

  /// Puts bytes at an offset of a file's content, in the place of what is there.
  ///
  /// See ``ProtectedFiles/Handle/write(_:at:)``.
  ///
  /// - Parameters:
  ///   - bytes: What stands there from now on.
  ///   - offset: Where, at most at the end.
  ///   - name: The file's name.
  /// - Throws: `notFound`, `invalidArgument` for an offset beyond the end, and as ``write(_:to:)``.
  public func write(_ bytes: Data, at offset: Int, to name: String) throws(ProtectionError) {
    try change(name) { handle throws(ProtectionError) in try handle.write(bytes, at: offset) }
  }

  /// Opens a file for one change, again if somebody replaces it meanwhile.
  private func change(
    _ name: String, _ body: (ProtectedFiles.Handle) throws(ProtectionError) -> Void
  ) throws(ProtectionError) {
    for _ in 0..<Self.replacementLimit {
      let handle = try open(name)
      defer { handle.close() }
      do throws(ProtectionError) { return try body(handle) } catch  where error.code == .superseded { continue }
    }
    throw ProtectionError(.busy, "Somebody replaces \"\(name)\" as often as it is opened; try again.")
  }

  /// So often a file is opened again that somebody has replaced meanwhile.
  private static let replacementLimit = 64

  // MARK: Reading

  /// Reads a whole file.
  ///
  /// - Parameter name: Its name.
  /// - Returns: The content.
  /// - Throws: `notFound`, `locked`, `corrupt`, `missing`, `rolledBack`, `otherDevice`, `unsupportedVersion`, `io`.
  public func read(_ name: String) throws(ProtectionError) -> Data {
    try open(name).readAll()
  }

  /// Opens a file for reading at random and for writing.
  ///
  /// - Parameter name: Its name.
  /// - Returns: A handle whose fate at a lock follows the file's class.
  /// - Throws: As ``read(_:)``.
  public func open(_ name: String) throws(ProtectionError) -> ProtectedFiles.Handle {
    let entry = try entry(name)
    try collection.requireOpening(entry.protection)
    return try ProtectedFiles.Handle(collection, entry)
  }

  // MARK: Always allowed

  /// The attributes of every file, by name; works while locked.
  ///
  /// - Returns: The attributes, in the order of the names' bytes.
  /// - Throws: `corrupt`, `missing` or what else keeps the directory's list from being read.
  public func list() throws(ProtectionError) -> [ProtectedFiles.Attributes] {
    let entries = try collection.read().entries
    var all: [ProtectedFiles.Attributes] = []
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      if let attributes = try attributes(name.text, entry) { all.append(attributes) }
    }
    return all
  }

  /// The attributes of one file; works while locked.
  ///
  /// - Parameter name: Its name.
  /// - Returns: The attributes.
  /// - Throws: `notFound`, or `missing` when its content was removed from outside.
  public func attributes(of name: String) throws(ProtectionError) -> ProtectedFiles.Attributes {
    guard let attributes = try attributes(name, entry(name)) else { throw Self.notFound(name) }
    return attributes
  }

  /// The attributes of a file; `nil` when it was deleted since the list was read.
  private func attributes(
    _ name: String, _ entry: FileIndex.Entry
  ) throws(ProtectionError) -> ProtectedFiles.Attributes? {
    do throws(ProtectionError) {
      return try collection.attributes(name, entry)
    } catch  where error.code == .missing {
      guard let now = try collection.read()[name] else { return nil }
      guard now.identifier != entry.identifier else { throw error }
      return try attributes(name, now)
    }
  }

  /// Goes on from an older list, when the newest is damaged or gone, or somebody has put an old one back; works while locked.
  ///
  /// Begins anew, with an empty list, when everything that was in the directory is gone. Until this is called every other
  /// function throws the list's error (`rolledBack` for an old one that was put back). Files that were created, renamed
  /// or deleted since the older list have their earlier names again, or none: a file without a name is deleted.
  ///
  /// - Throws: `busy`, `io`, `durabilityUnknown`, or the error of the older list.
  public func adoptOlderList() throws(ProtectionError) {
    try collection.adoptOlderIndex()
  }

  /// Renames a file; works while locked.
  ///
  /// Open handles stay usable.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - newName: Its new name, which must be free.
  /// - Throws: `notFound`, `alreadyExists`, `busy`, `io`.
  public func rename(_ name: String, to newName: String) throws(ProtectionError) {
    try Self.check(newName)
    try collection.change { index throws(ProtectionError) in
      guard let entry = index[name] else { throw Self.notFound(name) }
      guard index[newName] == nil else { throw Self.taken(newName) }
      index[name] = nil
      index[newName] = entry
    }
  }

  /// Deletes a file; works while locked.
  ///
  /// Open handles can still read.
  ///
  /// - Parameter name: Its name.
  /// - Throws: `notFound`, `busy`, `io`.
  public func delete(_ name: String) throws(ProtectionError) {
    let entry = try collection.change { index throws(ProtectionError) in
      guard let entry = index[name] else { throw Self.notFound(name) }
      try collection.willForget(entry)
      index[name] = nil
      return entry
    }
    try collection.contents(of: entry).deleteAll()
  }

  // MARK: Classes

  /// Gives a file another class: it is sealed anew, and its old bytes are deleted.
  ///
  /// - Parameters:
  ///   - protection: The new class.
  ///   - name: The file's name.
  /// - Throws: `locked` unless the file can be read now and the new class created now; nothing has changed then.
  ///   Otherwise as ``create(_:contents:protection:)``.
  public func setProtection(_ protection: ProtectionClass, of name: String) throws(ProtectionError) {
    typealias Entry = FileIndex.Entry
    let change = try collection.change { index throws(ProtectionError) -> (old: Entry, new: Entry)? in
      guard let entry = index[name] else { throw Self.notFound(name) }
      try collection.requireOpening(entry.protection)
      guard entry.protection != protection else { return nil }
      let contents = try collection.contents(of: entry).openNewest().whole().base
      let made = try collection.make(contents, protection, created: entry.created).entry
      try collection.willForget(entry)
      index[name] = made
      return (entry, made)
    }
    guard let change else { return }
    collection.didName(change.new)
    try collection.contents(of: change.old).deleteAll()
  }

  /// The class of files that are created without one; `complete` unless it was changed.
  ///
  /// - Throws: What keeps the directory's list from being read.
  public var defaultProtection: ProtectionClass {
    get throws(ProtectionError) { try collection.read().defaultProtection }
  }

  /// Sets the class of files that are created without one; existing files keep theirs.
  ///
  /// - Parameter protection: The class.
  /// - Throws: `busy`, `io`, `durabilityUnknown`.
  public func setDefaultProtection(_ protection: ProtectionClass) throws(ProtectionError) {
    try collection.change { index throws(ProtectionError) in index.defaultProtection = protection }
  }

  // MARK: Backup

  /// Whether backup programs are told to leave the directory out, by a `CACHEDIR.TAG` file in it.
  ///
  /// - Throws: `io`.
  public var isExcludedFromBackup: Bool {
    get throws(ProtectionError) { try collection.isExcludedFromBackup }
  }

  /// Tells backup programs to leave the directory out, or not to.
  ///
  /// The mark is that of the Cache Directory Tagging Specification, which GNU tar (`--exclude-caches`), borg and restic
  /// honour; it is a request, not a protection.
  ///
  /// - Parameter isExcluded: Whether to leave it out.
  /// - Throws: `io`.
  public func setExcludedFromBackup(_ isExcluded: Bool) throws(ProtectionError) {
    try collection.setExcludedFromBackup(isExcluded)
  }

  // MARK: Names

  private func entry(_ name: String) throws(ProtectionError) -> FileIndex.Entry {
    guard let entry = try collection.read()[name] else { throw Self.notFound(name) }
    return entry
  }

  private static func check(_ name: String) throws(ProtectionError) {
    guard (1...FileCollection.maximumNameByteCount).contains(name.utf8.count) else {
      throw ProtectionError(
        .invalidArgument, "A file name has 1 to \(FileCollection.maximumNameByteCount) bytes, not \(name.utf8.count).")
    }
  }

  private static func notFound(_ name: String) -> ProtectionError {
    ProtectionError(.notFound, "There is no protected file \"\(name)\".")
  }

  private static func taken(_ name: String) -> ProtectionError {
    ProtectionError(.alreadyExists, "There is a protected file \"\(name)\" already; choose another name.")
  }
}
