import FileSystem
import Synchronization

/// A marked attempt at restoring: the next launch learns from it if this process dies in it.
///
/// Marking is storing into the page cache, which outlives the process; only ``synchronize()`` waits for the disk. The page
/// is mapped until ``end()``, so that a note costs no call; where that can't be, and later, notes are written.
package final class RestorationAttempt: Sendable {
  private struct State {
    var marker: CrashMarker
    /// The marker's page, until the attempt ends.
    var mapping: FileMapping?
    /// Whether the disk was told that the attempt has begun: then it is told of its end.
    var isOnDisk = false
    /// What earlier attempts have left, which the end forgets.
    var earlier: CrashMarker.Record?
    /// Whether the file still has to forget that.
    var owesForgetting = false
    /// Whether the file is another attempt's, so that its records may be others.
    var isOvertaken = false
  }

  private let file: StoreFile
  private let identity: [UInt8]
  private let keys: any StoreKeys
  private let state: Mutex<State>

  /// Writes a marker in which an attempt runs.
  init(
    _ marker: CrashMarker, _ file: StoreFile, on volume: VolumeKind?, identity: [UInt8], keys: any StoreKeys
  ) throws(ProtectionError) {
    let bytes = try marker.encoded(identity: identity, keys: keys)
    func map() -> FileMapping? {
      volume == .overwriting ? file.fileSystem.map(file.descriptor, byteCount: bytes.count) : nil
    }
    // A file has to be as long as a marker before it is mapped.
    var mapping = file.byteCount == bytes.count ? map() : nil
    if let mapping {
      unsafe mapping.store(bytes.span.bytes, at: 0)
    } else {
      try attempt("mark an attempt at restoring") { () throws(FileSystemError) in
        try unsafe file.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: 0)
      }
      mapping = map()
    }
    self.file = file
    self.identity = identity
    self.keys = keys
    state = Mutex(State(marker: marker, mapping: mapping))
  }

  deinit { stopMapping() }

  /// What the marker says now.
  var marker: CrashMarker { state.withLock { $0.marker } }

  /// Notes the node whose code runs from now on, nil for code outside any; after ``end()`` it marks the attempt again.
  ///
  /// What the end has forgotten counts again then: restoring goes on, and has not ended well yet.
  package func note(node: UInt32?) {
    state.withLock { state in
      // Another attempt may have written the marker since this one has ended.
      let isBeginning = state.marker.running == nil
      let hasEarlier = state.earlier != nil
      if isBeginning, let earlier = state.earlier, !state.marker.records.isEmpty {
        state.marker.records[0].takeDeaths(of: earlier)
      }
      state.marker.running = node ?? CrashMarker.noNode
      // The records are in the file unless somebody has changed them.
      if isBeginning, hasEarlier || state.isOvertaken {
        write(state)
        state.owesForgetting = false
      } else {
        writeRunning(state)
      }
    }
  }

  /// Says that the program ends in order: no death is held against the state, and none is forgotten.
  package func pause() {
    state.withLock { state in
      guard state.marker.running != nil else { return }
      state.marker.running = nil
      writeRunning(state)
      state.mapping = nil
    }
  }

  /// Nothing of the program runs with the state any more; earlier deaths at it are forgotten.
  package func end() {
    let isOwed = state.withLock { state in
      guard state.marker.running != nil else { return false }
      let first = state.marker.records.first
      let hasDeaths = first?.hasDeaths == true
      if hasDeaths { (state.earlier, state.owesForgetting) = (first, true) }
      state.marker.end()
      writeRunning(state)
      state.mapping = nil
      defer { state.isOnDisk = false }
      return state.isOnDisk || hasDeaths
    }
    // A power cut would bring the beginning back without the end, or the deaths.
    guard isOwed else { return }
    file.fileSystem.runBeside(after: .zero) {
      self.forgetDeaths()
      self.synchronize()
    }
  }

  /// Writes the records without the deaths, which takes a code over all of them.
  private func forgetDeaths() {
    state.withLock { state in
      guard state.owesForgetting, !state.isOvertaken else { return }
      state.owesForgetting = false
      write(state)
    }
  }

  /// Has notes written from now on: the file is another attempt's to map, and to say what is forgotten.
  func stopMapping() {
    state.withLock { state in
      state.mapping = nil
      state.isOvertaken = true
    }
  }

  /// Makes the marker durable if the attempt still runs.
  func synchronizeBeginning() {
    let isRunning = state.withLock { state in
      guard state.marker.running != nil else { return false }
      state.isOnDisk = true
      return true
    }
    if isRunning { synchronize() }
  }

  /// Makes the marker durable, for hangs that the user ends by the power switch; waits for the disk.
  package func synchronize() {
    try? file.fileSystem.synchronizeData(file.descriptor)
  }

  /// Writes the marker whole; without keys the records stay, and the end counts.
  private func write(_ state: State) {
    if let bytes = try? state.marker.encoded(identity: identity, keys: keys) {
      unsafe write(bytes.span.bytes, at: 0, state)
    } else {
      writeRunning(state)
    }
  }

  private func writeRunning(_ state: State) {
    let bytes: [4 of UInt8] = CrashMarker.bytes(ofRunning: state.marker.running)
    unsafe write(bytes.span.bytes, at: CrashMarker.byteCount - 4, state)
  }

  private func write(_ bytes: RawSpan, at offset: Int, _ state: State) {
    if let mapping = state.mapping {
      mapping.store(bytes, at: offset)
    } else {
      // An attempt without a mark is not guarded; restoring goes on.
      try? file.fileSystem.writeAll(file.descriptor, bytes, at: Int64(offset))
    }
  }
}
