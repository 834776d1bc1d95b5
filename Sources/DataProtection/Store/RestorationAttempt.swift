import FileSystem
import Synchronization

/// A marked attempt at restoring: the next launch learns from it if this process dies in it.
///
/// Marking is storing into the page cache, which outlives the process; only ``synchronize()`` waits for the disk.
package final class RestorationAttempt: Sendable {
  private struct State {
    var marker: CrashMarker
    /// The marker with its code, but for the node that runs.
    var bytes: [UInt8]
    /// Whether the disk was told that the attempt has ended, as it was told that it has begun.
    var hasEnded = false
    /// What earlier attempts have left, which the end forgets.
    var earlier: CrashMarker.Record?
  }

  private let file: StoreFile
  private let mapping: FileMapping?
  private let identity: [UInt8]
  private let keys: any StoreKeys
  private let state: Mutex<State>

  /// Writes a marker in which an attempt runs.
  init(
    _ marker: CrashMarker, _ file: StoreFile, on volume: VolumeKind, identity: [UInt8], keys: any StoreKeys
  ) throws(ProtectionError) {
    let bytes = try marker.encoded(identity: identity, keys: keys)
    func map() -> FileMapping? {
      volume == .overwriting ? file.fileSystem.map(file.descriptor, byteCount: bytes.count) : nil
    }
    // A file has to be as long as a marker before it is mapped.
    var mapping = file.byteCount == bytes.count ? map() : nil
    if let mapping {
      unsafe mapping.store(bytes.span.bytes)
    } else {
      try attempt("mark an attempt at restoring") { () throws(FileSystemError) in
        try unsafe file.fileSystem.writeAll(file.descriptor, bytes.span.bytes, at: 0)
      }
      mapping = map()
    }
    self.mapping = mapping
    self.file = file
    self.identity = identity
    self.keys = keys
    state = Mutex(State(marker: marker, bytes: bytes))
  }

  /// What the marker says now.
  var marker: CrashMarker { state.withLock { $0.marker } }

  /// Notes the node whose code runs from now on, nil for code outside any; after ``end()`` it marks the attempt again.
  ///
  /// What the end has forgotten counts again then: restoring goes on, and has not ended well yet.
  package func note(node: UInt32?) {
    state.withLock { state in
      if state.marker.running == nil, let earlier = state.earlier, !state.marker.records.isEmpty {
        state.marker.records[0].takeDeaths(of: earlier)
        encode(&state)
      }
      state.marker.running = node ?? CrashMarker.noNode
      store(&state)
    }
  }

  /// Says that the program ends in order: no death is held against the state, and none is forgotten.
  package func pause() {
    state.withLock { state in
      guard state.marker.running != nil else { return }
      state.marker.running = nil
      store(&state)
    }
  }

  /// Nothing of the program runs with the state any more; earlier deaths at it are forgotten.
  package func end() {
    let isFirst = state.withLock { state in
      guard state.marker.running != nil else { return false }
      if let first = state.marker.records.first, first.hasDeaths { state.earlier = first }
      state.marker.end()
      encode(&state)
      store(&state)
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

  /// The records are the same unless something was held against the state; without keys they stay, and the end counts.
  private func encode(_ state: inout State) {
    if let bytes = try? state.marker.encoded(identity: identity, keys: keys) { state.bytes = bytes }
  }

  private func store(_ state: inout State) {
    state.bytes.replaceSubrange((state.bytes.count - 4)..., with: CrashMarker.bytes(ofRunning: state.marker.running))
    if let mapping {
      unsafe mapping.store(state.bytes.span.bytes)
    } else {
      // An attempt without a mark is not guarded; restoring goes on.
      try? unsafe file.fileSystem.writeAll(file.descriptor, state.bytes.span.bytes, at: 0)
    }
  }
}
