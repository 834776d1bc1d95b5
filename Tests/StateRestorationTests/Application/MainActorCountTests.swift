import ApplicationLifecycle
import DataProtection
import Dispatch
import FaultyFileSystem
import FileSystem
import Foundation
import Sealing
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// R9.2, counted: nothing is encoded, sealed, read or written on the main actor in a launch, a save and an unlock.
@MainActor @Suite(.tags(.threads)) struct MainActorCountTests {
  /// What was done on the main actor, and elsewhere.
  final class Tally: Sendable {
    private static let mainQueue = DispatchSpecificKey<Void>()

    init() { DispatchQueue.main.setSpecific(key: Self.mainQueue, value: ()) }

    private let counts = Mutex<(main: [String: Int], elsewhere: [String: Int])>(([:], [:]))

    func note(_ what: String, _ operation: FileSystemError.Operation? = nil) {
      // The main queue's jobs, which the main actor's are, may run on any thread.
      let isMain = DispatchQueue.getSpecific(key: Self.mainQueue) != nil
      counts.withLock { counts in
        if isMain {
          counts.main["\(what)\(operation.map { ": \($0)" } ?? "")", default: 0] += 1
        } else {
          counts.elsewhere[what, default: 0] += 1
        }
      }
    }

    /// What was done since the last call.
    func take() -> (main: [String: Int], elsewhere: Set<String>) {
      counts.withLock { counts in
        defer { counts = ([:], [:]) }
        return (counts.main, Set(counts.elsewhere.keys))
      }
    }
  }

  /// Where salts and keys come from: whoever seals asks it.
  struct CountedRandom: RandomSource {
    let tally: Tally

    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
      tally.note("sealing")
      try unsafe SystemRandom().fill(buffer)
    }
  }

  /// A state whose encoding is counted.
  @MainActor final class Page: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable {
      var text = ""
      var tally: Tally?

      init(_ text: String, _ tally: Tally) { (self.text, self.tally) = (text, tally) }

      init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

      func encode(to encoder: any Encoder) throws {
        tally?.note("encoding")
        var container = encoder.singleValueContainer()
        try container.encode(text)
      }
    }

    let restoration: RestorationIdentity = "page"
    var restorableState: State
    private let tally: Tally

    init(_ tally: Tally) {
      self.tally = tally
      restorableState = State("", tally)
    }

    func type(_ text: String) {
      restorableState = State(text, tally)
      invalidateRestorableState()
    }
  }

  @MainActor final class Program: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
    let page: Page
    let application: RestorableApplication
    let coordinator: RestorationCoordinator

    var rootController: (any RestorableController)? { page }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func makeSnapshot() -> Data? { Data("picture".utf8) }

    init(_ device: ProtectedDevice, _ tally: Tally) throws {
      page = Page(tally)
      let relay = Relay()
      coordinator = try RestorationCoordinator(device: device, delegate: relay)
      application = try RestorableApplication(device: device, coordinator: coordinator, delegate: relay)
      self.relay = relay
      (coordinator.delegate, application.delegate) = (self, self)
    }

    private let relay: Relay

    final class Relay: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
      var rootController: (any RestorableController)? { nil }
      func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { false }
      func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { false }
    }
  }

  let tally = Tally()

  private func open(_ memory: MemoryFileSystem) async throws -> ProtectedDevice {
    let disk = FaultyFileSystem(memory)
    let tally = tally
    disk.onCall { _, operation in tally.note("file system", operation) }
    let environment = DeviceEnvironment(
      fileSystem: disk, clock: ManualClock(), random: CountedRandom(tally: tally), scrypt: .test,
      variables: { _ in nil })
    return try await ProtectedDevice.open(
      at: .directory("/state/device"), options: ProtectedDevice.Options(), environment: environment)
  }

  /// Says what was done on the main actor since the last look; some of it must have been done elsewhere.
  ///
  /// - Parameter isRestoring: Whether objects are restored: each is noted, with a write of four bytes that waits for nothing, so
  ///   that a crash is put down to it.
  private func expectNothingOnMain(_ what: String, isRestoring: Bool = false, elsewhere: Set<String>) {
    var (main, found) = tally.take()
    if isRestoring {
      main["file system: write"] = nil
      // Beside the main actor on a real disk; a disk in memory does it in place.
      main["file system: synchronizeData"] = nil
    }
    #expect(main == [:], "\(what): on the main actor")
    #expect(found.isSuperset(of: elsewhere), "\(what): \(found)")
  }

  @Test func `a launch, saves, a snapshot, a lock, an unlock and an end leave the main actor free`() async throws {
    let memory = MemoryFileSystem()
    try await open(memory).setPasscode(ProtectedDevice.Passcode("1234"))
    let device = try await open(memory)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    expectNothingOnMain("opening, and an unlock", elsewhere: ["file system", "sealing"])
    let program = try Program(device, tally)
    // Making the parts takes the archive, so that another process can't have it.
    _ = tally.take()
    try await program.application.launch()
    expectNothingOnMain("launch", elsewhere: ["file system"])
    for text in ["one", "two", String(repeating: "x", count: 100_000)] {
      program.page.type(text)
      _ = try await program.application.preserve()
      expectNothingOnMain("save", elsewhere: ["file system", "sealing", "encoding"])
    }
    program.coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(1))
    program.page.type("automatic")
    try await program.application.lifecycle.enterBackground()
    expectNothingOnMain("background and snapshot", elsewhere: ["file system", "sealing", "encoding"])
    try await program.application.lifecycle.enterForeground()
    program.page.type("changed")
    _ = try await program.application.preserve()
    expectNothingOnMain("a save that drops the snapshot", elsewhere: ["file system", "sealing", "encoding"])

    // A launch on a locked device, an edit, and the unlock.
    let memoryNow = memory.afterProcessDeath()
    let locked = try await open(memoryNow)
    let late = try Program(locked, tally)
    _ = tally.take()
    try await late.application.launch()
    expectNothingOnMain("locked launch", elsewhere: ["file system"])
    try await locked.unlock(passcode: ProtectedDevice.Passcode("1234"))
    let report = await late.application.finishLateRestoration()
    #expect(report?.outcome == .restored && late.page.restorableState.text == "changed")
    expectNothingOnMain("unlock", isRestoring: true, elsewhere: ["file system"])
    late.page.type("last")
    try await late.application.lifecycle.terminate()
    expectNothingOnMain("end", elsewhere: ["file system", "sealing", "encoding"])
    withExtendedLifetime(program) {}
  }

  @Test func `a handle of a protected file is opened again off the main actor`() async throws {
    let device = try await open(MemoryFileSystem())
    let files = try device.files()
    let program = try Program(device, tally)
    let handle = try files.create("x", contents: Data("x".utf8), protection: .complete)
    program.application.manage(handle)
    try await program.application.launch()
    try await program.application.lifecycle.resignActive()
    _ = tally.take()
    try await program.application.lifecycle.becomeActive()
    expectNothingOnMain("opening again", elsewhere: ["file system"])
    #expect(try handle.read(0..<1) == Data("x".utf8))
  }

  @Test func `the tally counts what is done here`() async throws {
    _ = try await open(MemoryFileSystem()).files().create("x")
    let main = tally.take().main
    #expect(main["sealing"] != nil && main["file system: synchronize"] != nil, "\(main)")
  }
}
