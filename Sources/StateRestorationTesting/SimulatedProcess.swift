import ApplicationLifecycle
package import DataProtection

/// A process on a simulated device: its view of the disk and of the device.
@MainActor package final class SimulatedProcess {
  /// The disk, until the process dies.
  package let fileSystem: ProcessFileSystem
  /// The device as the process opened it.
  package let device: ProtectedDevice

  init(fileSystem: ProcessFileSystem, device: ProtectedDevice) {
    self.fileSystem = fileSystem
    self.device = device
  }

  var isAlive: Bool { fileSystem.isAlive }
}

/// A program that is installed on a simulated device.
@MainActor protocol SimulatedProgram: AnyObject {
  /// What purging needs to know; the name is unique on its device.
  var purgeCandidate: PurgeOrder.Candidate { get }

  /// Memory is short.
  func receiveMemoryWarning()

  /// The program's process ends, without notice.
  func end(_ reason: TerminationReason)
}

/// The programs of a device in the order in which they are purged.
@MainActor struct PurgeOrderCandidates {
  let programs: [any SimulatedProgram]

  init(_ programs: [any SimulatedProgram]) { self.programs = programs }

  func purging(toFree bytes: Int) -> [any SimulatedProgram] {
    PurgeOrder.purging(programs.map(\.purgeCandidate), toFree: bytes).compactMap { candidate in
      programs.first { $0.purgeCandidate.name == candidate.name }
    }
  }
}
