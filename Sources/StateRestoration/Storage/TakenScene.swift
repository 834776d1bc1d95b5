internal import Dispatch
internal import Synchronization

/// The archive of a scene for a coordinator that is about to be made, and why it could not be taken for writing.
struct TakenScene: Sendable {
  let store: ArchiveStore
  /// Nil when it could be taken.
  let failure: ProtectionError?
  /// What others of this process see until the coordinator is there; nil where that is made at once.
  var claim: SceneClaim?
}

/// That somebody is about to make the coordinator of a scene.
final class SceneClaim: Sendable {
  private let taken = Mutex<ArchiveStore?>(nil)

  /// Notes that it has the scene's archive.
  func note(_ store: ArchiveStore) { taken.withLock { $0 = store } }

  /// Whether it has the archive of which another store is.
  func has(_ store: ArchiveStore) -> Bool { taken.withLock { $0?.isOfSameSlot(as: store) == true } }
}

extension ProtectedDevice {
  /// Calls of the store block on the disk; a thread of Swift's pool may be blocked by the program as well.
  private static let queue = DispatchQueue(
    label: "state-restoration.opening", qos: .userInitiated, attributes: .concurrent)

  /// Does something that waits for the disk away from the main actor; in a synchronous call the main thread waits.
  @MainActor func away<Value: Sendable>(
    _ body: @escaping @Sendable (ProtectedDevice) throws(ProtectionError) -> Value
  ) async throws(ProtectionError) -> Value {
    if Synchronous.isOn { return try body(self) }
    let result = await withCheckedContinuation { continuation in
      Self.queue.async {
        continuation.resume(returning: Result { () throws(ProtectionError) in try body(self) })
      }
    }
    return try result.get()
  }

  /// Takes the archive of a scene; it waits for the disk.
  ///
  /// Throws what keeps the device from giving the archive's place.
  func take(
    _ session: RestoredWindow.ID, of configuration: RestorationConfiguration
  ) throws(ProtectionError) -> TakenScene {
    let slot = ArchiveSlot(application: configuration.application, scene: session.rawValue)
    let store = try archives(for: slot, protection: configuration.protection)
    do throws(ProtectionError) {
      try store.take(waiting: .zero)
    } catch {
      return TakenScene(store: store, failure: error)
    }
    return TakenScene(store: store, failure: nil)
  }

  /// The place of a program's snapshot; it waits for the disk.
  ///
  /// A picture shows objects of all classes of protection, so it has the strongest one.
  func snapshotStore(
    of configuration: RestorationConfiguration, scene: RestoredWindow.ID?
  ) throws(ProtectionError) -> DeviceSnapshotStore {
    let slot = ArchiveSlot(application: configuration.application, scene: scene?.rawValue ?? "", slot: "snapshot")
    return DeviceSnapshotStore(store: try archives(for: slot, protection: .complete))
  }

  /// The list of a program's scenes; it waits for the disk.
  func listOfScenes(of configuration: RestorationConfiguration) throws(ProtectionError) -> ArchiveStore {
    let slot = ArchiveSlot(application: configuration.application, scene: "", slot: "scenes")
    return try archives(for: slot, protection: configuration.protection)
  }
}
