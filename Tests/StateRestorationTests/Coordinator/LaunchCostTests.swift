import DataProtection
import FaultyFileSystem
import FileSystem
import Patience
import RestorationArchive
import SimulatedTime
import StateRestoration
import Testing

/// The disk that a launch uses: counts, as times depend on the machine.
@MainActor @Suite struct LaunchCostTests {
  /// What a launch of ten nodes costs at most, with a whole generation on the disk and nothing pending.
  ///
  /// The counts as they are; to be tightened whenever the store gets cheaper.
  private enum Limits {
    /// Both of the crash marker, and nobody waits for them.
    static let syncs = 2
    static let locks = 2
    static let opens = 12
    /// All but the syncs and the notes in the crash marker.
    static let callsOnTheWay = 36
    /// A file system with mappings takes all of them without a call.
    static let writes = 49
    static let bytesRead = 2_789
  }

  private let configuration = RestorationConfiguration(application: "com.example.launch")

  private func environment(_ fileSystem: any FileSystem) -> DeviceEnvironment {
    DeviceEnvironment(fileSystem: fileSystem, clock: ManualClock(), scrypt: .test, variables: { _ in nil })
  }

  private func hierarchy(_ text: String) -> Screen {
    Screen("root", text: text, children: (0..<9).map { Screen("child \($0)", text: text) })
  }

  @Test func `a launch makes few calls, takes few locks and reads little`() async throws {
    let disk = MemoryFileSystem()
    let delegate = YesDelegate()
    do {
      let device = try await ProtectedDevice.open(at: .directory("/state/device"), environment: environment(disk))
      let coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
      let root = hierarchy("old")
      _ = try await coordinator.restore(into: root)
      _ = try await coordinator.preserve(root)
    }
    // The first launch makes the crash marker, the next one finds it.
    for isFirst in [true, false] {
      // The worker of the life before lets its slot go on its own thread.
      try await waitUntil("the slot to be free") { !disk.isAnythingLocked }
      let counting = CountingFileSystem(disk)
      let device = try await ProtectedDevice.open(at: .directory("/state/device"), environment: environment(counting))
      let coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
      let root = hierarchy("")
      let report = try await coordinator.restore(into: root)
      let counts = counting.counts
      #expect(report.outcome == .restored)
      #expect(root["child 8"]?.text == "old")

      #expect(counts.lockWaits == 0)
      #expect(counts.syncs <= Limits.syncs, "\(counts)")
      #expect(counts[.lock] <= Limits.locks, "\(counts)")
      #expect(counts.opens <= Limits.opens, "\(counts)")
      // All writes are notes in the marker.
      #expect(
        counts.systemCalls - counts.syncs - counts[.write] <= Limits.callsOnTheWay, "\(isFirst) \(counts)")
      #expect(counts[.write] <= Limits.writes, "\(counts)")
      #expect(counts.bytesRead <= Limits.bytesRead, "\(counts)")
      withExtendedLifetime(coordinator) {}
    }
  }
}
