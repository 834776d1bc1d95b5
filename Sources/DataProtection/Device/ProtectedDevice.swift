import Sealing
import Synchronization

/// An emulated device: a directory of sealed files whose keys depend on a passcode, and that can be locked.
///
/// ```swift
/// let device = try await ProtectedDevice.open(at: .applicationState("com.example.notes"))
/// try await device.setPasscode(ProtectedDevice.Passcode("correct horse"))
/// let drafts = try device.files(in: "drafts")
/// try drafts.create("letter", contents: Data("Dear …".utf8), protection: .complete)
///
/// device.lock()                                            // ten seconds of grace, then the keys are wiped
/// try await device.unlock(passcode: ProtectedDevice.Passcode("correct horse"))
/// ```
///
/// Without a passcode nothing ever locks. With one, the lock state belongs to this process: a new process starts as
/// after a reboot and needs the passcode, unless a ``ProtectedDevice/KeyCustody`` keeps the keys for it.
///
/// A device is safe to use from any thread. Calls with a passcode are asynchronous, because checking one takes about
/// half a second and 128 MiB on purpose; ``lock()`` is immediate.
public final class ProtectedDevice: Sendable {
  struct State {
    var lockState: ProtectedDevice.LockState
    var isAvailable: Bool
    var hasPasscode: Bool
    /// Whether its directory has its keys; false as long as there is no room for them.
    var isMade = true
    /// Raised by every lock and reboot, so that a passcode checked meanwhile doesn't undo them.
    var lockCount: UInt64 = 0
    /// The grace period of the last lock, for one that comes before there is a passcode.
    var lastGrace = Duration.zero
    /// The count of the lock whose grace period runs, so that an older one's end doesn't cut it short.
    var lockingSince: UInt64 = 0
  }

  let environment: DeviceEnvironment
  package let options: ProtectedDevice.Options
  let directory: DeviceDirectory
  let provider: any ProtectedDevice.KeyProvider
  let ring: KeyRing
  let announcer = Announcer()
  let wrongPasscodes: WrongPasscodes
  /// One operation with a passcode at a time.
  let gate = SerialGate()
  /// Held while the lock state changes together with the keys; never while observers run or the disk is waited for.
  let transition = Turn()
  /// Held while the device is made, or made again.
  let making = Turn()
  /// What operations with a passcode have in memory.
  let operations = Mutex<[OperationSecrets]>([])
  /// Held while the custody works, which may hang.
  let custodyTurn = SharedTurn()
  let settler = CustodySettler()
  let graceTimer: any GraceTimer
  let state: Mutex<State>
  let stores: DeviceStores

  init(
    environment: DeviceEnvironment, options: ProtectedDevice.Options, directory: DeviceDirectory,
    provider: any ProtectedDevice.KeyProvider, ring: KeyRing, state: State
  ) {
    self.environment = environment
    self.options = options
    self.directory = directory
    self.provider = provider
    self.ring = ring
    self.state = Mutex(state)
    graceTimer = environment.graceTimer
    wrongPasscodes = WrongPasscodes(random: environment.random)
    stores = DeviceStores(environment: environment, options: options, directory: directory, ring: ring)
    stores.belong(to: self)
  }

  // MARK: State

  /// Whether files of every class can be read and written now.
  ///
  /// `true` without a passcode, while unlocked, and during the grace period of a lock; `false` from the moment at
  /// which the keys are wiped until the unlock, and before the first unlock.
  public var isProtectedDataAvailable: Bool { state.withLock { $0.isAvailable } }

  /// Where the device is between unlocked and locked.
  public var lockState: ProtectedDevice.LockState { state.withLock { $0.lockState } }

  /// Whether the device has a passcode; without one it never locks.
  public var hasPasscode: Bool { state.withLock { $0.hasPasscode } }

  /// Whether the operating system would not keep secrets out of the swap space.
  ///
  /// Raise the limit for locked memory (`ulimit -l`) or use encrypted swap.
  public var secretsMayBeSwapped: Bool { SecretArena.shared.standing.secretsMayBeSwapped }

  // MARK: Notifications

  /// The notifications from now on, in their order and without end: for one consumer, so ask for a stream for each.
  ///
  /// Nothing is lost when the consumer is slow. It ends when its task is cancelled or the device is gone.
  public var protectedDataNotifications: AsyncStream<ProtectedDevice.Notification> {
    AsyncStream { [announcer] continuation in
      let number = announcer.add { continuation.yield($0) }
      continuation.onTermination = { [weak announcer] _ in announcer?.remove(number) }
    }
  }

  /// Has a closure called for every notification, in order.
  ///
  /// It is called on the thread that caused the notification, one notification at a time, with no lock held: it may
  /// read and write files, and lock or unlock the device, whose notifications then follow. `lock()` returns after it, but
  /// the keys don't wait for it.
  ///
  /// - Parameter observer: Called until the observation is cancelled or released.
  /// - Returns: The observation; keep it.
  package func observeProtectedData(
    _ observer: @escaping @Sendable (ProtectedDevice.Notification) -> Void
  ) -> ProtectedDataObservation {
    ProtectedDataObservation(announcer, number: announcer.add(observer))
  }
}
