public import FoundationShim
import Synchronization

/// An open protected file: it is read at random and replaced as a whole.
///
/// What a lock of the device does to it depends on the file's class. That of a `complete` file works through the grace
/// period and is dead after it, for good: every call throws `locked`, and the file has to be opened anew after the
/// unlock. That of a `completeUnlessOpen` file works until it is closed or the device is rebooted. The others survive
/// locks.
///
/// Every call blocks on the disk and may come from any thread.
public final class ProtectedFileHandle: Sendable {
  private struct State {
    var content: OpenedArchive?
    var generation: Generation
    var isClosed = false
  }

  /// The file's class when the handle was opened.
  public var protection: ProtectionClass { entry.protection }
  private let entry: FileIndex.Entry
  private let collection: FileCollection
  private let store: ArchiveStore
  private let life: HandleLife
  private let turn = Turn()
  private let state: Mutex<State>

  /// Opens a file.
  init(_ collection: FileCollection, _ entry: FileIndex.Entry) throws(ProtectionError) {
    self.collection = collection
    self.entry = entry
    store = try collection.contents(of: entry)
    life = HandleLife(collection.ring, entry.protection)
    do throws(ProtectionError) {
      let content = try store.openNewest()
      state = Mutex(State(content: content, generation: content.generation))
    } catch  where error.code == .notFound {
      throw ProtectionError(.missing, "The file's content is gone; somebody removed it from outside.", cause: error)
    }
  }

  /// Takes a file that was just created; while locked it can't be opened, and the content is kept instead.
  init(
    _ collection: FileCollection, _ entry: FileIndex.Entry, written: Data, _ generation: Generation
  ) throws(ProtectionError) {
    self.collection = collection
    self.entry = entry
    store = try collection.contents(of: entry)
    life = HandleLife(collection.ring, entry.protection, written: written)
    state = Mutex(State(content: nil, generation: generation))
  }

  /// The number of the content that the handle reads.
  package var generation: Generation { state.withLock { $0.generation } }

  /// The length of the content in bytes.
  ///
  /// - Throws: `locked` when the class's keys are gone, `invalidHandle` when the handle was closed.
  public var byteCount: Int {
    get throws(ProtectionError) {
      let (content, written) = try current()
      return content?.byteCount ?? written.count
    }
  }

  /// Reads part of the content, decrypting only its chunks.
  ///
  /// - Parameter range: The bytes to read, within the content.
  /// - Returns: The bytes.
  /// - Throws: `invalidArgument` for a range beyond the end, `locked`, `corrupt`, `io`, `invalidHandle`.
  public func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    let (content, written) = try current()
    if let content { return try content.read(range) }
    guard range.lowerBound >= 0, range.upperBound <= written.count else {
      throw ProtectionError(
        .invalidArgument, "The range \(range) is not within the file, which has \(written.count) bytes.")
    }
    return Data(written.dropFirst(range.lowerBound).prefix(range.count))
  }

  /// Reads the whole content.
  ///
  /// - Returns: The content.
  /// - Throws: As ``read(_:)``.
  package func readAll() throws(ProtectionError) -> Data {
    try read(0..<byteCount)
  }

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
      state.withLock { state in
        guard !state.isClosed else { return }
        state.content = nil
        life.keep(contents)
        state.generation = receipt.generation
      }
    }
  }

  /// Closes the handle: its keys are wiped, and every later call throws `invalidHandle`.
  public func close() {
    let old = state.withLock { state in
      defer { state = State(generation: state.generation, isClosed: true) }
      life.keep(nil)
      return state
    }
    _ = old
  }

  /// What the handle reads: the opened file, or the bytes that were written through it.
  private func current() throws(ProtectionError) -> (content: OpenedArchive?, written: Data) {
    try state.withLock { state throws(ProtectionError) in
      guard !state.isClosed else {
        throw ProtectionError(.invalidHandle, "The handle was closed; open the file again.")
      }
      return (state.content, try life.written(protection) ?? Data())
    }
  }
}
