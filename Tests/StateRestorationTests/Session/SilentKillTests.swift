import DataProtection
import Foundation
import StateRestoration
import TestTraits
import Testing

/// A program of each way of saying state is killed after the documented time, and has its last change.
@MainActor @Suite(.tags(.threads)) struct SilentKillTests {
  /// Without the program's own state: a session has none.
  nonisolated private static let ways = SilentWay.allCases.filter { $0 != .application }

  @Test(.timeLimit(.minutes(5)))
  func `a silent change of each kind survives kill -9`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "silent-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    await #expect(processExitsWith: .signal(SIGKILL)) { @MainActor [path = folder.path as String] in
      try await SilentKillTests.run(in: path)
    }
    for way in Self.ways {
      let program = SilentProgram(way)
      let session = try await Self.open(program, in: folder.path)
      #expect(program.isChanged, "\(way): \(session.report)")
      try await session.close()
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: [4, 5, 6, 7])
  func `a change that takes hardly any time in a program that rests survives kill -9`(seconds: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "resting-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    await #expect(processExitsWith: .signal(SIGKILL)) {
      @MainActor [path = folder.path as String, seconds = seconds as Int] in
      try await SilentKillTests.rest(for: seconds, in: path)
    }
    let program = SilentProgram(.plainProperty)
    let session = try await Self.open(program, in: folder.path)
    #expect(program.isChanged, "\(session.report)")
    try await session.close()
  }

  /// A program that waits for longer than the interval, changes one value, and is killed a little after the documented time.
  fileprivate static func rest(for seconds: Int, in path: String) async throws {
    let program = SilentProgram(.plainProperty)
    let session = try await open(program, in: path)
    _ = try await session.preserve()
    // Nothing looks meanwhile: looking would be work.
    try await Task.sleep(for: .seconds(seconds))
    program.change()
    try await Task.sleep(for: .milliseconds(3_500))
    kill(getpid(), SIGKILL)
  }

  fileprivate static func open(_ program: SilentProgram, in path: String) async throws -> RestorationSession {
    let registry = RestorationRegistry()
    program.register(registry)
    return try await RestorationSession.open(
      at: .directory("\(path)/\(program.way.rawValue)"), root: program.root, registry: registry)
  }

  /// The programs, all in one process: each is changed once its first state is on disk, and waits for the save of that.
  fileprivate static func run(in path: String) async throws {
    var running: [(program: SilentProgram, session: RestorationSession, receipt: PreservationOutcome.Receipt?)] = []
    for way in ways {
      let program = SilentProgram(way)
      let session = try await open(program, in: path)
      _ = try await session.preserve()
      running.append((program, session, session.coordinator.lastReceipt))
    }
    let changed = ContinuousClock.now
    for (program, _, _) in running { program.change() }
    let limit = changed + .seconds(60)
    while running.contains(where: { $0.session.coordinator.lastReceipt == $0.receipt }), .now < limit {
      try await Task.sleep(for: .milliseconds(10))
    }
    kill(getpid(), SIGKILL)
  }
}
