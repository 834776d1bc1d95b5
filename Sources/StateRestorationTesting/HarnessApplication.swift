public import StateRestoration

/// A program as the harness launches it: what it tells its life cycle and its coordinator.
///
/// The harness makes a new one for each launch, as a new process would.
@MainActor public protocol HarnessApplication: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
  /// Registers restoration classes, blueprints and shared objects; called before restoring.
  func register(with coordinator: RestorationCoordinator)
}

extension HarnessApplication {
  /// Registers nothing.
  public func register(with coordinator: RestorationCoordinator) {}
}

/// A program that is nothing but a hierarchy, and wants everything preserved and restored.
@MainActor
public final class HierarchyApplication<Root: RestorableController>: HarnessApplication {
  /// The root of the hierarchy.
  public let root: Root

  /// Every save that the program was told of, the first one first: those of leaving and those that come by themselves.
  package private(set) var preservations: [Result<PreservationOutcome, RestorationError>] = []

  private let registration: @MainActor (RestorationCoordinator) -> Void

  /// Makes a program of a hierarchy.
  public init(_ root: Root, registering registration: @escaping @MainActor (RestorationCoordinator) -> Void = { _ in })
  {
    self.root = root
    self.registration = registration
  }

  /// The root.
  public var rootController: (any RestorableController)? { root }

  /// Registers what the test gave.
  public func register(with coordinator: RestorationCoordinator) { registration(coordinator) }

  /// Yes.
  public func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  /// Yes.
  public func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  /// Notes a save of leaving the foreground or ending.
  public func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) { preservations.append(result) }

  /// Notes a save that came by itself.
  public func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    preservations.append(.success(outcome))
  }

  /// Notes a save that came by itself and failed.
  public func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    preservations.append(.failure(error))
  }
}
