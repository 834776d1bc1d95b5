import FileSystem
import Synchronization

/// A marked attempt at restoring: the next launch learns from it if this process dies in it.
///
/// Marking is writing into the page cache, which outlives the process; only ``synchronize()`` waits for the disk. A note
/// of a node is one write of four bytes, about a microsecond: into a mapped page it would cost less, and end the process
/// when somebody cuts the file short.
package final class RestorationAttempt: Sendable {
  private struct State {
    var marker: CrashMarker
    /// Whether the disk was told that the attempt has ended, as it was told that it has begun.
    var hasEnded = false
    /// What earlier attempts have left, which the end forgets.
    var earlier: CrashMarker.Record?
  }

  private let file: StoreFile
  private let identity: [UInt8]
  private let keys: any StoreKeys
  private let state: Mutex<State>

  /// Writes a marker in which an attempt runs.
  init(
    _ marker: CrashMarker, _ file: StoreFile, identity: [UInt8], keys: any StoreKeys
  ) throws(ProtectionError) {
    let bytes = try marker.encoded(identity: identity, keys: keys)
    try attempt("mark an attempt at restoring") { () throws(FileSystemError) in
      try unsafe file.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: 0)
    }
    self.file = file
    self.identity = identity
    self.keys = keys
    state = Mutex(State(marker: marker))
  }

  /// What the marker says now.
  var marker: CrashMarker { state.withLock { $0.marker } }

  /// Notes the node whose code runs from now on, nil for code outside any; after ``end()`` it marks the attempt again.
  ///
  /// What the end has forgotten counts again then: restoring goes on, and has not ended well yet.
  package func note(node: UInt32?) {
    state.withLock { state in
      // Another attempt may have written the marker since this one has ended.
      let isBeginning = state.marker.running == nil
      if isBeginning, let earlier = state.earlier, !state.marker.records.isEmpty {
        state.marker.records[0].takeDeaths(of: earlier)
      }
      state.marker.running = node ?? CrashMarker.noNode
      if isBeginning { write(state.marker) } else { writeRunning(state.marker) }
    }
  }

  /// Says that the program ends in order: no death is held against the state, and none is forgotten.
  package func pause() {
    state.withLock { state in
      guard state.marker.running != nil else { return }
      state.marker.running = nil
      writeRunning(state.marker)
    }
  }

  /// Nothing of the program runs with the state any more; earlier deaths at it are forgotten.
  package func end() {
    let isFirst = state.withLock { state in
      guard state.marker.running != nil else { return false }
      if let first = state.marker.records.first, first.hasDeaths { state.earlier = first }
      state.marker.end()
      write(state.marker)
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    // A power cut would bring the beginning back without the end.
    if isFirst { file.fileSystem.runBeside { self.synchronize() } }
  }

  /// Makes the marker durable, for hangs that the user ends by the power switch; waits for the disk.
  package func synchronize() {
    try? file.fileSystem.synchronizeData(file.descriptor)
  }

  /// Writes the marker whole; without keys the records stay, and the end counts.
  private func write(_ marker: CrashMarker) {
    if let bytes = try? marker.encoded(identity: identity, keys: keys) {
      write(bytes, at: 0)
    } else {
      writeRunning(marker)
    }
  }

  private func writeRunning(_ marker: CrashMarker) {
    write(CrashMarker.bytes(ofRunning: marker.running), at: CrashMarker.byteCount - 4)
  }

  private func write(_ bytes: [UInt8], at offset: Int) {
    // An attempt without a mark is not guarded; restoring goes on.
    try? unsafe file.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: Int64(offset))
  }
}
