import FileSystem
import Synchronization

/// An attempt at restoring an archive, marked on disk so that the next launch knows if this process dies in it.
///
/// It holds the marker's lock: another process sees a live peer. Dropping it without `finish` leaves the marker, as
/// a crash would. What the same store saves meanwhile in the archive's place is marked in its turn. All calls may come
/// from any thread; all but `settle`, which waits for the disk, from the main actor too.
public final class RestorationAttempt: Sendable {
  /// What an archive is restored as.
  public enum Role: Sendable, Hashable {
    /// The newest of its slot.
    case newest
    /// The generation before it, instead of it, as it can't be restored: the next launch is told.
    case standIn
    /// The generation before it, which was asked for by name: that somebody died of it is known for as long as nothing else
    /// is saved, whatever was restored since.
    case requested
  }

  /// How many attempts at this archive have failed before this one.
  public let failedAttempts: Int
  private let store: StoreDirectory
  private let file: StoreFile
  private let name: StoreName
  /// Whether there is something behind the marker that outlasts it.
  private let hasFormer: Bool
  private let marker: Mutex<Marker>
  private let begun: BegunAttempts

  private struct Marker {
    var bytes: MarkerBytes
    /// The marker as memory, during a turn.
    var page: FileMapping?
    var isFinished = false
  }

  init(
    store: StoreDirectory, file: StoreFile, name: StoreName, identity: [UInt8], content: MarkerFile,
    begun: BegunAttempts
  ) {
    self.store = store
    self.begun = begun
    self.file = file
    self.name = name
    hasFormer = !content.former.isEmpty
    marker = Mutex(Marker(bytes: MarkerBytes(content.marker, identity: identity)))
    failedAttempts = Int(content.marker.failedAttempts)
  }

  /// Notes the node that is restored from now on; survives the death of the process.
  ///
  /// It rests no more. If the note can't be written, the marker stays as it was: a crash is then put down to the node before.
  public func note(node: UInt32) {
    marker.withLock { marker in
      guard let bytes = try? marker.bytes.note(node: node, keys: store.keys) else { return }
      write(bytes, marker.page)
    }
  }

  /// Marks what was saved in the place of the archive that is restored, and has its nodes; a change of it if there is no
  /// new commitment.
  ///
  /// Attempts that failed before were at another state, and count no more.
  func follow(_ commitment: [UInt8]? = nil) {
    marker.withLock { marker in
      guard !marker.isFinished, commitment != nil || marker.bytes.marker.hasFormerState,
        let bytes = try? marker.bytes.change(store.keys, { $0.follow(commitment) })
      else { return }
      write(bytes, marker.page)
    }
  }

  private func write(_ bytes: [UInt8], _ page: FileMapping?) {
    if let page { return unsafe page.store(bytes.span.bytes) }
    try? unsafe store.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: 0)
  }

  /// Whether the marker is there still, as far as this run has a say in it.
  var isOpen: Bool { marker.withLock { !$0.isFinished } }

  /// Notes without a system call each, until ``endTurn()``, where storing in the marker's page is as safe as writing it.
  ///
  /// For the time in which nothing but one turn of restoring runs: a page may become unwritable again when the kernel has
  /// written it back.
  package func beginTurn() {
    let page = store.fileSystem.map(file.descriptor, byteCount: CrashMarker.byteCount)
    marker.withLock { $0.page = page }
  }

  /// Writes every note again.
  package func endTurn() { marker.withLock { $0.page = nil } }

  /// Has the marker rest: restoring is complete, and a death is put down to nothing until something is noted again.
  ///
  /// It stays on the disk for what is restored later, so that noting that takes no sync. Others find no attempt, and may
  /// put their own marker in its place. A power cut may bring the last note back, until ``settle()`` has returned; after
  /// a restart it doesn't count the first time.
  public func rest() {
    marker.withLock { marker in
      guard !marker.isFinished, let bytes = try? marker.bytes.change(store.keys, { $0.rest() }) else { return }
      write(bytes, marker.page)
    }
  }

  /// Counts no attempt before this one any more: what begins now has nothing to do with how they ended.
  public func forgetFormer() {
    begun.forget()
    marker.withLock { marker in
      guard !marker.isFinished, let bytes = try? marker.bytes.change(store.keys, { $0.forgetFormer() }) else { return }
      write(bytes, marker.page)
    }
  }

  /// Removes the marker: restoring was given up in good order, or is over for good.
  ///
  /// What is behind the marker stays: what requests have died of, and the newest.
  /// A power cut may bring it back, until ``settle()`` has returned; after a restart it doesn't count the first time.
  public func finish() {
    if hasFormer { rest() }
    endTurn()
    marker.withLock { marker in
      marker.isFinished = true
      // While this one was at rest another process may have put its own in the place.
      let isInPlace = (try? store.fileSystem.status(of: file.descriptor))?.linkCount != 0
      if isInPlace, !hasFormer { try? store.fileSystem.unlink(name.text, in: store.directory) }
      try? store.fileSystem.unlock(file.descriptor)
    }
  }

  /// Makes the rest or the removal durable.
  ///
  /// Waits for the disk. Without it each power cut before the next save would count as one more attempt that failed. If it
  /// fails, that is all that is lost.
  public func settle() {
    if isOpen {
      try? store.fileSystem.synchronizeData(file.descriptor)
    } else {
      try? store.fileSystem.synchronize(store.directory)
    }
  }
}
