import FileSystem
import StateRestoration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Real processes that die: for exit tests, on a device in a real folder.
///
/// ```swift
/// @Test func `a killed process comes back`() async throws {
///   let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
///   await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
///     try await RestorationSubject { NotesWindow() }.preserveAndDie(in: folder) { $0.editor.draft = "hello" }
///   }
///   let window = try await RestorationSubject { NotesWindow() }.restored(in: folder)
///   #expect(window.editor.draft == "hello")
/// }
/// ```
extension RestorationSubject {
  /// Restores the hierarchy in this process, changes and preserves it, and then kills the process with `SIGKILL`.
  ///
  /// - Parameters:
  ///   - folder: The device's directory; it is made when there is none.
  ///   - number: Kills earlier, before the n-th call of the file system that preserving makes.
  ///   - change: Changes the hierarchy as a user would.
  /// - Throws: What kept the state from being preserved, so that the exit test sees another end.
  @MainActor public func preserveAndDie(
    in folder: String, beforeCall number: Int? = nil, after change: @MainActor (Root) async throws -> Void
  ) async throws -> Never {
    let fileSystem = ProcessFileSystem(LinuxFileSystem())
    let (coordinator, application, _) = try await start(in: folder, fileSystem)
    try await change(application.root)
    if let number {
      fileSystem.die(beforeCall: fileSystem.callCount + number) { _ = kill(getpid(), SIGKILL) }
    }
    let outcome = try await coordinator.preserve(application.root)
    guard case .preserved = outcome else { throw HarnessError("Nothing was preserved: \(outcome).") }
    kill(getpid(), SIGKILL)
    // The signal is delivered before the call returns to the program.
    fatalError("The process outlived SIGKILL.")
  }

  /// Restores in this process what another one preserved in a folder.
  ///
  /// - Throws: `HarnessError` when nothing was restored, with the report's outcome.
  @MainActor public func restored(in folder: String) async throws -> Root {
    let (_, application, report) = try await start(in: folder, LinuxFileSystem())
    guard report.outcome == .restored else { throw HarnessError("Nothing was restored: \(report.outcome).") }
    return application.root
  }

  @MainActor private func start(
    in folder: String, _ fileSystem: any FileSystem
  ) async throws -> (RestorationCoordinator, HierarchyApplication<Root>, RestorationReport) {
    let device = try await ProtectedDevice.open(
      at: .directory(folder), environment: DeviceEnvironment(fileSystem: fileSystem))
    let application = application()
    let coordinator = try RestorationCoordinator(
      device: device, delegate: application, configuration: configuration)
    application.register(with: coordinator)
    let report = try await coordinator.restore(into: application.root)
    return (coordinator, application, report)
  }
}
