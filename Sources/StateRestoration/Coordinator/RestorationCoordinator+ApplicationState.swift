internal import FoundationEssentials
internal import RestorationArchive

/// Stored app-level state that could not be read, or not whole, and is kept until there is newer.
struct KeptApplicationState {
  /// What the delegate had then; nil as long as it has not said.
  var fingerprintWhenRefused: [UInt8]?
  /// Whether it was read, but for references to what may come back.
  var isRead = false
}

extension RestorationCoordinator {
  /// What the delegate encodes beside the hierarchy.
  typealias ApplicationState = (entries: [RestorationArchive.Entry], references: [CapturedReference])

  /// Asks whether to preserve and takes the app-level state; nil when the delegate says no.
  func takeApplicationState(context: RestorationContext) -> ApplicationState? {
    guard let delegate else { return nil }
    let encoder = RestorationEncoder(path: [], context: context, owner: RestorationCoordinator.self)
    guard delegate.shouldSaveApplicationState(with: encoder) else {
      _ = encoder.finish()
      return nil
    }
    delegate.willEncodeRestorableState(with: encoder)
    return encoder.finish()
  }

  /// The app-level state with its references resolved in a capture; nil when the delegate says no.
  func encodeApplicationState(
    context: RestorationContext, resolving batch: inout CaptureBatch
  ) -> [RestorationArchive.Entry]? {
    takeApplicationState(context: context).map { state in
      state.entries + tree.entries(forApplication: state.references, &batch)
    }
  }

  /// Has the stored app-level state kept until the delegate has something newer than it had when it was first refused it;
  /// that is anything, if it has had state of its own.
  func keepStoredApplicationState(refusedBefore former: KeptApplicationState?) {
    if let former {
      keptApplication = former
    } else if hasApplicationState {
      keptApplication = .init(fingerprintWhenRefused: [])
    } else {
      keptApplication = .init(fingerprintWhenRefused: applicationFingerprint())
    }
  }

  /// Has the stored app-level state kept for its references, until the delegate has something newer than it has now.
  func keepStoredReferencesOfApplication() {
    keptApplication = .init(fingerprintWhenRefused: applicationFingerprint(), isRead: true)
  }

  private func applicationFingerprint() -> [UInt8]? {
    takeApplicationState(context: configuration.context).map(tree.fingerprint)
  }

  /// Puts the app-level state into a capture, unless it is what the delegate had when the stored one could not be read.
  func enter(_ state: ApplicationState, into batch: inout CaptureBatch) {
    let entries = state.entries + tree.entries(forApplication: state.references, &batch)
    guard let kept = keptApplication else {
      if phase != .deferred { hasApplicationState = true }
      return batch.application = entries
    }
    let found = tree.fingerprint(state.entries, state.references)
    keptApplication?.fingerprintWhenRefused = kept.fingerprintWhenRefused ?? found
    guard found != keptApplication?.fingerprintWhenRefused else { return }
    batch.application = entries
    batch.endsKeptApplication = true
    batch.setsApplicationAside = !kept.isRead
  }
}
