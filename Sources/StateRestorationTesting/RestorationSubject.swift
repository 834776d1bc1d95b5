public import StateRestoration

/// How a test makes a hierarchy anew, as a launch would, and what it needs to come back.
public struct RestorationSubject<Root: RestorableController>: Sendable {
  /// What the program says about itself; its `clock` and `now` are replaced by those of the simulated device.
  public var configuration = RestorationConfiguration()

  /// Properties and types that are not meant to come back: caches, results, moments.
  package var ignoredProperties: Set<String> = []

  /// How ``assertRestoresAtEveryKillPoint(_:from:to:sourceLocation:)`` saves: by `RestorableApplication.preserve()`.
  ///
  /// Replace it if your program saves in another way, and return the outcome. After `preserved` or `unchanged` the new state
  /// must come back. Any other outcome, nil or an error means that the kill cut the save short: the old or the new state may
  /// come back.
  public var save:
    @MainActor @Sendable (RestorableApplication, RestorationCoordinator) async throws -> PreservationOutcome? =
      { application, _ in try await application.preserve() }

  let make: @MainActor @Sendable () -> Root
  let register: @MainActor @Sendable (RestorationCoordinator) -> Void

  /// Describes a hierarchy.
  ///
  /// - Parameters:
  ///   - ignoring: Names of properties and types that are not meant to come back.
  ///   - make: Makes the hierarchy as it is at launch, before anything is restored.
  ///   - register: Registers restoration classes, blueprints and shared objects.
  public init(
    ignoring: Set<String> = [], _ make: @escaping @MainActor @Sendable () -> Root,
    registering register: @escaping @MainActor @Sendable (RestorationCoordinator) -> Void = { _ in }
  ) {
    ignoredProperties = ignoring
    self.make = make
    self.register = register
  }

  /// Whether a recorded value is not meant to come back any more: its property is ignored, or one that it is a field of.
  func ignores(_ name: String) -> Bool {
    ignoredProperties.contains(name) || ignoredProperties.contains { name.hasPrefix("\($0).") }
  }

  /// Installs the hierarchy on a device as a program of its own.
  @MainActor func harness(on device: SimulatedDevice) -> RestorationHarness<HierarchyApplication<Root>> {
    RestorationHarness(on: device, configuration: configuration)
  }

  /// Makes the program of one launch.
  @MainActor func application() -> HierarchyApplication<Root> {
    HierarchyApplication(make(), registering: register)
  }

  /// Declarations of a hierarchy that leave something out.
  @MainActor func mistakes(in root: Root) -> [LintFinding] {
    HierarchyMistakes(in: root, ignoring: ignoredProperties).findings
  }

  /// The user's own values of a hierarchy.
  @MainActor func values(of root: Root) -> HierarchyValues {
    HierarchyValues(of: root, ignoring: ignoredProperties)
  }
}
