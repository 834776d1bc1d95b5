import DataProtection
import FaultyFileSystem
import FileSystem
import RestorationArchive
import SimulatedTime
import StateRestoration
import Testing

/// The disk that a launch uses: counts, as times depend on the machine.
@MainActor @Suite struct LaunchCostTests {
  /// What a launch of ten nodes may cost at most, with a whole generation on the disk and nothing pending.
  ///
  /// Tightened whenever the store gets cheaper.
  private enum Limits {
    static let syncs = 3
    static let locks = 9
    static let opens = 14
    static let systemCalls = 93
    /// All that a launch reads besides the archive: keys, ledger, names.
    static let bytesBesidesArchive = 2_300
  }

  private let configuration = RestorationConfiguration(application: "com.example.launch")

  private func environment(_ fileSystem: any FileSystem) -> DeviceEnvironment {
    DeviceEnvironment(fileSystem: fileSystem, clock: ManualClock(), scrypt: .test, variables: { _ in nil })
  }

  private func hierarchy(_ text: String) -> Screen {
    Screen("root", text: text, children: (0..<9).map { Screen("child \($0)", text: text) })
  }

  @Test func `a launch makes few calls, takes few locks and reads little more than the archive`() async throws {
    let disk = MemoryFileSystem()
    let delegate = YesDelegate()
    var archiveBytes = 0
    do {
      let device = try await ProtectedDevice.open(at: .directory("/state/device"), environment: environment(disk))
      let coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
      let root = hierarchy("old")
      _ = try await coordinator.restore(into: root)
      archiveBytes = try #require(try await coordinator.preserve(root).receipt).bytesWritten
    }
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
    #expect(counts.systemCalls <= Limits.systemCalls, "\(counts)")
    #expect(counts.bytesRead <= archiveBytes + Limits.bytesBesidesArchive, "\(counts), archive of \(archiveBytes)")
    withExtendedLifetime(coordinator) {}
  }
}
