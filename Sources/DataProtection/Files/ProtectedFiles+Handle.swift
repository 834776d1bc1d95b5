public import FoundationShim
import Synchronization

extension ProtectedFiles {
  /// An open protected file: it is read at random, appended to, changed in part, and replaced as a whole.
  ///
  /// What a lock of the device does to it depends on the file's class. That of a `complete` file works through the grace
  /// period and is dead after it: every call throws `locked`, until ``reopen()`` after the unlock. That of a
  /// `completeUnlessOpen` file works until it is closed or the device is rebooted. The others survive locks.
  ///
  /// An application that manages the handle suspends it while it is inactive, and opens it again.
  ///
  /// Every call but ``suspend()`` and ``close()`` blocks on the disk and may come from any thread.
  public final class Handle: Sendable {
    private enum Phase { case open, suspended, closed }

    private struct State {
      var life: HandleLife
      var generation: Generation
      /// The last commitment that the handle has seen on disk; nil for what it has written itself.
      var commitment: [UInt8]?
      var phase = Phase.open
    }

    /// The file's class when the handle was opened.
    public var protection: ProtectionClass { entry.protection }
    private let entry: FileIndex.Entry
    private let collection: FileCollection
    private let store: ArchiveStore
    private let turn = Turn()
    private let state: Mutex<State>

    /// Opens a file.
    init(_ collection: FileCollection, _ entry: FileIndex.Entry) throws(ProtectionError) {
      self.collection = collection
      self.entry = entry
      store = try collection.contents(of: entry)
      let life = HandleLife(collection.keys, entry.protection)
      let known = try Self.open(store)
      life.keep(known.content)
      state = Mutex(State(life: life, generation: known.generation, commitment: known.commitment))
    }

    /// Takes a file that was just created; while locked it can't be opened, and the content is kept instead.
    init(
      _ collection: FileCollection, _ entry: FileIndex.Entry, _ store: ArchiveStore, written: Data,
      _ generation: Generation
    ) throws(ProtectionError) {
      self.collection = collection
      self.entry = entry
      self.store = store
      let life = HandleLife(collection.keys, entry.protection)
      life.keep(try PatchedContent(.bytes(written)))
      state = Mutex(State(life: life, generation: generation))
    }

    private static func open(_ store: ArchiveStore) throws(ProtectionError) -> FileCollection.Known {
      do throws(ProtectionError) {
        return try FileCollection.Known(try store.openNewest())
      } catch  where error.code == .notFound {
        throw ProtectionError(.missing, "The file's content is gone; somebody removed it from outside.", cause: error)
      }
    }

    /// The number of the content that the handle reads.
    package var generation: Generation { state.withLock { $0.generation } }

    /// The length of the content in bytes.
    ///
    /// - Throws: `locked` when the class's keys are gone, `invalidHandle` when the handle was closed or is suspended.
    public var byteCount: Int {
      get throws(ProtectionError) { try current().content.byteCount }
    }

    /// Reads part of the content, decrypting only its chunks.
    ///
    /// - Parameter range: The bytes to read, within the content.
    /// - Returns: The bytes.
    /// - Throws: `invalidArgument` for a range beyond the end, `locked`, `corrupt`, `io`, `invalidHandle`.
    public func read(_ range: Range<Int>) throws(ProtectionError) -> Data { try current().content.read(range) }

    /// Reads the whole content.
    ///
    /// - Returns: The content.
    /// - Throws: As ``read(_:)``.
    package func readAll() throws(ProtectionError) -> Data { try current().content.readAll() }

    // MARK: Writing

    /// Replaces the content, durably; afterwards the handle reads the new one.
    ///
    /// - Parameter contents: The file's new content.
    /// - Throws: `locked` when the class's keys are gone, `superseded` when the file was deleted or given another class since,
    ///   `invalidHandle`, `busy`, `io`; the old content is still there. `durabilityUnknown`: the new one may not survive a power
    ///   cut.
    public func write(_ contents: Data) throws(ProtectionError) {
      try turn.take { () throws(ProtectionError) in
        _ = try current()
        let receipt = try collection.replace(entry, by: contents, in: store)
        keep(FileCollection.Known(content: try PatchedContent(.bytes(contents)), generation: receipt.generation))
      }
    }

    /// Puts bytes behind the newest content, durably; afterwards the handle reads that content.
    ///
    /// Writes the bytes alone, sealed, and syncs once; a crash or a power cut leaves all of them or none. The whole file is
    /// written anew when what was added since has a quarter of its length (at least 16 KiB), so that a byte costs a few bytes
    /// on average, however long the file is. Appending through one handle again and again reads nothing in between.
    ///
    /// - Parameter bytes: What follows.
    /// - Throws: As ``write(_:)``; nothing was appended then.
    public func append(_ bytes: Data) throws(ProtectionError) { try patch(bytes, at: nil) }

    /// Puts bytes at an offset of the newest content, in the place of what is there, durably; afterwards the handle reads that
    /// content.
    ///
    /// Costs what ``append(_:)`` does; bytes that reach over the end, after beginning before it, have the whole file written anew.
    /// A crash or a power cut leaves all of them or none.
    ///
    /// - Parameters:
    ///   - bytes: What stands there from now on.
    ///   - offset: Where, at most at the end.
    /// - Throws: `invalidArgument` for an offset beyond the end, and as ``write(_:)``; nothing has changed then.
    public func write(_ bytes: Data, at offset: Int) throws(ProtectionError) { try patch(bytes, at: offset) }

    private func patch(_ bytes: Data, at offset: Int?) throws(ProtectionError) {
      try turn.take { () throws(ProtectionError) in
        let (content, now) = try current()
        let known = FileCollection.Known(content: content, generation: now.generation, commitment: now.commitment)
        keep(try collection.patch(entry, with: bytes, at: offset, knowing: known, in: store))
      }
    }

    private func keep(_ known: FileCollection.Known) {
      state.withLock { state in
        guard state.phase == .open else { return }
        state.life.keep(known.content)
        state.generation = known.generation
        state.commitment = known.commitment
      }
    }

    // MARK: Closing

    /// Closes the handle for good: its keys are wiped, and every later call throws `invalidHandle`.
    public func close() { leave(.closed) }

    /// Closes the file until ``reopen()``: its keys are wiped, and every call meanwhile throws `invalidHandle`.
    ///
    /// An application does it when it resigns active, to the handles of `complete` files that it manages. Nothing happens to a
    /// handle that was closed for good.
    public func suspend() { leave(.suspended) }

    private func leave(_ phase: Phase) {
      state.withLock { state in
        guard state.phase != .closed else { return }
        state.phase = phase
        state.life.keep(nil)
      }
      store.forgetRest()
    }

    /// Opens the file again, with its newest content, after ``suspend()`` or a lock; nothing happens to a handle that is open or
    /// was closed for good.
    ///
    /// - Throws: `locked` while files of the class can't be opened, `superseded` when the file was deleted or given another class
    ///   since; otherwise as ``ProtectedFiles/open(_:)``. The handle stays as it was then, and this can be called again.
    @concurrent public func reopen() async throws(ProtectionError) {
      try turn.take { () throws(ProtectionError) in
        let isDead = state.withLock { state in
          switch state.phase {
          case .open: (try? state.life.content()) == nil
          case .suspended: true
          case .closed: false
          }
        }
        guard isDead else { return }
        try collection.requireOpening(entry.protection)
        guard try collection.names(entry) else { throw .fileSuperseded }
        // What it went on from was sealed with a key that is gone.
        store.forgetRest()
        let life = HandleLife(collection.keys, entry.protection)
        let known = try Self.open(store)
        life.keep(known.content)
        state.withLock { state in
          guard state.phase != .closed else { return }
          state = State(life: life, generation: known.generation, commitment: known.commitment)
        }
      }
    }

    /// What the handle reads, and what else it knows.
    private func current() throws(ProtectionError) -> (content: PatchedContent, state: State) {
      let now = state.withLock { $0 }
      switch now.phase {
      case .open: break
      case .suspended:
        throw ProtectionError(
          .invalidHandle,
          "The handle is suspended while the program is inactive; it opens again with the program, or by reopen().")
      case .closed: throw ProtectionError(.invalidHandle, "The handle was closed; open the file again.")
      }
      guard let content = try now.life.content() else { throw .locked(protection) }
      return (content, now)
    }
  }
}
