import Sealing
import Synchronization

/// The keys of one open file and the chunks decrypted last, behind one lock.
///
/// Reading node by node would decrypt each chunk about fifty times, so a few plaintexts are kept: 128 KiB at most,
/// wiped with the keys. The lock is never held across a read from the disk.
final class SealedChunks: Sendable {
  /// How many decrypted chunks are kept.
  static let capacity = 8

  let opener: ChunkedOpener
  private let state = Mutex(State())

  private struct Entry {
    var index: Int
    var plaintext: [UInt8]
  }

  private struct State {
    /// The kept chunks, the last used one first.
    var entries: [Entry] = []
    var openedCount = 0
  }

  init(_ opener: ChunkedOpener) {
    self.opener = opener
  }

  deinit {
    wipe()
  }

  /// How many chunks have been decrypted so far.
  var openedCount: Int { state.withLock { $0.openedCount } }

  /// Copies part of a kept chunk; `false` when it isn't kept.
  ///
  /// Throws `keyWiped` after ``wipe()``.
  func copyKept(
    _ index: Int, _ range: Range<Int>, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) -> Bool {
    let isFound = state.withLock { state in
      guard let position = state.entries.firstIndex(where: { $0.index == index }) else { return false }
      unsafe target.copyBytes(from: state.entries[position].plaintext[range])
      if position > 0 { state.entries.swapAt(position, 0) }
      return true
    }
    if !isFound, opener.isWiped { throw .fileIsLocked }
    return isFound
  }

  /// Decrypts one chunk, keeps it, and copies part of it.
  func open(
    _ index: Int, of sealed: [UInt8], _ range: Range<Int>, into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    let outcome = state.withLock { (state: inout State) -> Result<Void, SealingError> in
      do throws(SealingError) {
        let plaintext = try opener.openChunk(index, of: sealed.span)
        unsafe target.copyBytes(from: plaintext[range])
        if state.entries.count == Self.capacity {
          state.entries[Self.capacity - 1].plaintext.wipe()
          state.entries.removeLast()
        }
        state.entries.insert(Entry(index: index, plaintext: plaintext), at: 0)
        state.openedCount += 1
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }

  /// Decrypts a run of chunks straight to where they are wanted, keeping none.
  func open(
    _ chunks: Range<Int>, of sealed: [UInt8], into target: UnsafeMutableRawBufferPointer
  ) throws(SealingError) {
    try unsafe opener.openChunks(chunks, of: sealed.span, into: target)
    state.withLock { $0.openedCount += chunks.count }
  }

  /// Wipes the keys and the kept chunks; waits for a decryption in progress.
  func wipe() {
    state.withLock { state in
      opener.wipe()
      for position in state.entries.indices { state.entries[position].plaintext.wipe() }
      state.entries = []
    }
  }
}

extension SealingError {
  /// A read after the lock.
  static let fileIsLocked = SealingError(
    .keyWiped, "The file's key was wiped at lock; open the file again after the unlock.")
}
