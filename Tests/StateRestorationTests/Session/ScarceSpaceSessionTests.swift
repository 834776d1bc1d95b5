import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import StateRestoration
import TestTraits
import Testing

/// A program starts, runs and ends where nothing can be written; what it loses, it is told.
@MainActor @Suite(.serialized) struct ScarceSpaceSessionTests {
  enum Disk: CaseIterable {
    case full, readOnly
  }

  /// A small disk in memory that is mounted for a test.
  @MainActor private struct Mount {
    let path = FileManager.default.temporaryDirectory.appending(path: "scarce-\(UUID())").path
    let disk: SmallDisk

    init() throws { disk = try SmallDisk(at: path, kilobytes: 256) }

    func makeScarce(_ kind: Disk) throws {
      switch kind {
      case .full: try disk.fill()
      case .readOnly: try disk.remount(isReadOnly: true)
      }
    }

    func makeRoom(_ kind: Disk) throws {
      switch kind {
      case .full: try disk.makeRoom()
      case .readOnly: try disk.remount(isReadOnly: false)
      }
    }

    func remove() {
      disk.unmount()
      try? FileManager.default.removeItem(atPath: path)
    }

    /// What a launch finds that changes nothing.
    func launch() async throws -> String {
      let draft = StoredValue("draft", "")
      return try await RestorationSession.run(at: .directory(path), root: draft, answering: []) { _ in draft.value }
    }
  }

  @Test(.enabled(if: SmallDisk.isPossible, "as root, to mount a disk"), arguments: Disk.allCases)
  func `a first launch without room runs, says why nothing is preserved, and preserves once there is room`(
    _ kind: Disk
  ) async throws {
    let mount = try Mount()
    defer { mount.remove() }
    try mount.makeScarce(kind)
    // A run without a change loses nothing, and ends well.
    #expect(try await mount.launch() == "")
    let draft = StoredValue("draft", "")
    try await RestorationSession.run(at: .directory(mount.path), root: draft, answering: []) { session in
      #expect(session.report.outcome == .nothingPreserved)
      let receipt = try #require(try await session.preserve().receipt)
      let reason = kind == .full ? "disk is full" : "read-only"
      #expect(receipt.findings.contains { $0.description.contains(reason) }, "\(receipt)")
      draft.value = "typed"
      let error = await #expect(throws: RestorationError.self) { try await session.preserve() }
      #expect((error?.cause as? ProtectionError)?.message.contains(reason) == true)
      try mount.makeRoom(kind)
      guard case .preserved = try await session.preserve() else {
        Issue.record("Nothing was preserved.")
        return
      }
    }
    #expect(try await mount.launch() == "typed")
    // Now a run without a change finds it, whatever room there is.
    try mount.makeScarce(kind)
    #expect(try await mount.launch() == "typed")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "as root, to mount a disk"), arguments: Disk.allCases)
  func `a change that finds no room until the end is an error of the run`(_ kind: Disk) async throws {
    let mount = try Mount()
    defer { mount.remove() }
    try mount.makeScarce(kind)
    let draft = StoredValue("draft", "")
    await #expect(throws: RestorationError.self) {
      try await RestorationSession.run(at: .directory(mount.path), root: draft, answering: []) { _ in
        draft.value = "typed"
      }
    }
    try mount.makeRoom(kind)
    #expect(try await mount.launch() == "")
  }

  /// From each call of the first launch on nothing can be written.
  @Test func `wherever the disk fills up, a first launch opens, and preserves once there is room`() async throws {
    var call = 1
    while true {
      let memory = MemoryFileSystem()
      let disk = FaultyFileSystem(memory)
      disk.fail(from: call, [.makeDirectory, .write, .synchronize, .synchronizeData, .rename], .error(.noSpace))
      func device(_ fileSystem: any FileSystem) async throws -> ProtectedDevice {
        try await ProtectedDevice.open(
          at: .directory("/state/device"),
          environment: DeviceEnvironment(fileSystem: fileSystem, scrypt: .test, variables: { _ in nil }))
      }
      let draft = StoredValue("draft", "")
      let session = try await RestorationSession.open(on: try await device(disk), root: draft)
      #expect(session.report.outcome == .nothingPreserved, "call \(call)")
      _ = try await session.preserve()
      let isOver = session.coordinator.lastReceipt?.kind == .whole
      draft.value = "typed"
      _ = try? await session.preserve()
      disk.heal()
      _ = try await session.preserve()
      try await session.close()
      let next = StoredValue("draft", "")
      try await RestorationSession.open(on: try await device(memory), root: next).close()
      #expect(next.value == "typed", "call \(call)")
      if isOver { break }
      call += 1
    }
    #expect(call > 10)
  }
}
