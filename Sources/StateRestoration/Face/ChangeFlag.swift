internal import Observation
import Synchronization

/// A mark that an object's state may have changed since it was captured; raised from any thread.
///
/// Observation tells of a change before it happens, and on whatever thread: so it only raises the mark, and the
/// capture comes later, on the main actor.
package final class ChangeFlag: Sendable {
  private enum Mark {
    static let raised: UInt8 = 1
    static let retired: UInt8 = 2
    static let armed: UInt8 = 4
  }

  private let marks = Atomic<UInt8>(Mark.raised)
  private let onChange: @Sendable () -> Void
  /// Whether a reading has read anything that can be observed.
  @MainActor private var hasObserved = false
  /// Ends the observation that waits, as nothing else can; made when an object that was observed is invalidated, so that only
  /// the first observation goes on waiting.
  @MainActor private var beacon: Beacon?

  /// Makes a raised flag, as nothing is captured yet; `onChange` runs each time it goes up again, on the thread that raised it.
  package init(onChange: @escaping @Sendable () -> Void) {
    self.onChange = onChange
  }

  /// Whether something changed since the flag was last lowered.
  package var isRaised: Bool {
    marks.load(ordering: .acquiring) & Mark.raised != 0
  }

  /// Marks a change.
  package func raise() {
    let (old, _) = marks.bitwiseOr(Mark.raised, ordering: .acquiringAndReleasing)
    if old & (Mark.raised | Mark.retired) == 0 { onChange() }
  }

  /// Takes the mark away, before a capture, and claims the right to observe: false while an earlier observation is still
  /// waiting for its change.
  ///
  /// Changes during the capture raise the mark again. Every observation that waits makes each write dearer, so that they
  /// do not pile up.
  package func rearm() -> Bool {
    // Nobody captures with a binding that has gone, so there is no `retired` to lose.
    marks.exchange(Mark.armed, ordering: .acquiringAndReleasing) & Mark.armed == 0
  }

  /// Marks a change that an observation saw; the next capture observes anew.
  func fire() {
    marks.bitwiseAnd(~Mark.armed, ordering: .acquiringAndReleasing)
    raise()
  }

  /// Marks a change that nothing can observe; the next capture observes anew, as the object may read other values now.
  @MainActor package func invalidate() {
    if let beacon { beacon.flashes += 1 } else if hasObserved { beacon = Beacon() }
    fire()
  }

  /// Observes the values that a reading reads, until one changes or the object is invalidated.
  @MainActor func observe<Read>(_ read: () -> Read) -> Read {
    let number = ChangesElsewhere.number
    let value = withObservationTracking(
      {
        _ = beacon?.flashes
        return read()
      },
      onChange: listener())
    if ChangesElsewhere.number != number { fire() }
    return value
  }

  /// The function that an observation calls when a value changes; asked for only if the reading read a value that can be observed.
  @MainActor private func listener() -> @Sendable () -> Void {
    hasObserved = true
    return { [self] in fire() }
  }

  /// Whether nobody listens any more.
  var isRetired: Bool {
    marks.load(ordering: .acquiring) & Mark.retired != 0
  }

  /// Ends listening: nothing is called any more.
  package func retire() {
    marks.bitwiseOr(Mark.retired, ordering: .acquiringAndReleasing)
  }
}

/// A value to observe that changes when an object is invalidated.
@Observable @MainActor private final class Beacon {
  var flashes = 0
}

/// Counts what other threads than the main actor's have changed.
///
/// An observation begins only when its reading has ended, and is told of a change before the value is there. So a change on
/// another thread is counted when the value is there, and its observers are told once more: whoever has read what was there
/// before hears of it either way.
enum ChangesElsewhere {
  private static let count = Atomic<Int>(0)

  /// How many there have been.
  static var number: Int { count.load(ordering: .sequentiallyConsistent) }

  /// Counts a change whose value is there, if this is another thread, and tells its observers.
  static func note(_ tellObservers: () -> Void) {
    guard !HostProcess.isOnMainActor else { return }
    count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    tellObservers()
  }
}
