import Synchronization

/// The markers with which the attempts of one run have begun, by what names an archive in them: another attempt at the same
/// archive goes on counting from there.
final class BegunAttempts: Sendable {
  private let markers = Mutex<[[UInt8]: CrashMarker]>([:])

  /// The marker with which the last attempt at an archive began that has not changed since.
  subscript(_ commitment: [UInt8]) -> CrashMarker? {
    get { markers.withLock { $0[commitment] } }
    set { markers.withLock { $0[commitment] = newValue } }
  }

  /// Counts no more what failed before a save: that was another state; that attempts have ended badly in a row stays.
  func follow(_ commitment: [UInt8]?) {
    markers.withLock { markers in
      // Mostly there is nothing to forget, and this is on the way of every change.
      guard commitment != nil || markers.count > 1 || markers.values.contains(where: \.hasFormerState),
        var last = markers.values.max(by: { $0.endsInARow < $1.endsInARow })
      else { return }
      last.follow(commitment)
      markers = [last.commitment: last]
    }
  }

  /// Forgets all of them.
  func forget() { markers.withLock { $0 = [:] } }
}
