/// A hierarchy that is restored, and preserved whenever it changes, for as long as the session is kept.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// try await RestorationSession.run(at: .applicationState("com.example.draft"), root: draft) { session in
///   print(session.report)
/// }
/// ```
///
/// A session opens the device, makes a coordinator and says yes for you. It is made of public parts: a program that outgrows
/// it makes its own ``RestorationCoordinator`` and ``RestorableApplication``, and finds the same state.
@MainActor public final class RestorationSession {
  /// The device that holds the state; it can be given a passcode, locked and unlocked.
  public let device: ProtectedDevice

  /// The coordinator that restores and preserves.
  public let coordinator: RestorationCoordinator

  /// The top of the hierarchy.
  package let root: any RestorableController

  /// The report with the reasons: of the launch, and after an unlock of that.
  public var report: RestorationReport { coordinator.lastReport ?? RestorationReport(outcome: .unavailable) }

  /// So soon after a change the next one is saved.
  static let interval = Duration.milliseconds(250)

  /// The application of a program that ``run(at:options:root:registry:configuration:delegate:answering:_:)`` runs; nil in a
  /// session that was opened.
  ///
  /// For its life cycle, background tasks, handles of protected files, and the snapshot.
  public internal(set) var application: RestorableApplication?

  let delegate = SessionDelegate()
  var isOpen = true

  /// Makes a session of a device that is open; nothing is restored yet.
  init(
    _ device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry,
    configuration: RestorationConfiguration, delegate program: (any RestorationSessionDelegate)? = nil
  ) throws(ProtectionError) {
    self.device = device
    self.root = root
    delegate.program = program
    coordinator = try RestorationCoordinator(
      device: device, delegate: program ?? delegate, configuration: configuration, registry: registry)
    delegate.rootController = root
    coordinator.preservesAutomatically = .onChange(coalescedOver: Self.interval)
    ExitGuard.add(self)
  }

  /// Preserves now, and returns when the state is on disk.
  ///
  /// Changes are preserved without it; call it where the program has to know that they are.
  @discardableResult
  public func preserve() async throws(RestorationError) -> PreservationOutcome { try await coordinator.preserve(root) }

  /// Unlocks the device and restores what waited for that.
  ///
  /// A program that wipes passcodes from its memory gives a `Passcode` to the ``device`` instead.
  ///
  /// - Returns: The report of that restoration; that of the launch if nothing was locked.
  @discardableResult
  public func unlock(passcode text: String) async throws(ProtectionError) -> RestorationReport {
    try await device.unlock(passcode: text)
    await coordinator.finishLateRestoration()
    return report
  }

  /// Preserves for the last time, and lets the state go, so that another session may have it.
  ///
  /// If it throws, the session stays open.
  public func close() async throws(RestorationError) {
    guard isOpen else { return }
    _ = try await preserve()
    await letGo()
  }

  /// Lets the state go.
  func letGo() async {
    isOpen = false
    coordinator.preservesAutomatically = .never
    await coordinator.letGo()
  }
}

extension RestorationSession {
  /// Opens a device and restores a hierarchy, for a program with a life cycle of its own; keep the session.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - root: The top of the hierarchy, as it is at launch.
  ///   - registry: The classes of objects that don't exist at launch.
  ///   - configuration: What the framework has to know of the program.
  public static func open(
    at location: DeviceLocation, root: any RestorableController, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init()
  ) async throws(RestorationError) -> RestorationSession {
    do {
      let device = try await ProtectedDevice.open(at: location)
      return try await open(on: device, root: root, registry: registry, configuration: configuration)
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(.deviceNotOpened, "The device can't be opened.", cause: error)
    }
  }

  /// Restores a hierarchy from a device that is open already.
  package static func open(
    on device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init()
  ) async throws -> RestorationSession {
    let session = try RestorationSession(device, root: root, registry: registry, configuration: configuration)
    try await session.coordinator.restore(into: root)
    await session.coordinator.endTurn()
    return session
  }
}
