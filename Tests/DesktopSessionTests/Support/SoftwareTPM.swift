import Foundation
import Glibc
import Synchronization
import Testing

/// swtpm: a TPM 2 as a program, which systemd's library reaches over a loopback port.
final class SoftwareTPM: Sendable {
  private static let nextPort = Atomic<Int>(Int(getpid()) % 5000 * 4 + 20_000)
  private let state: String
  private let port: Int
  private let program = Mutex<Helper?>(nil)

  init(in directory: String) throws {
    state = directory + "/tpm"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    port = Self.nextPort.wrappingAdd(2, ordering: .relaxed).newValue
  }

  /// The TPM as `--tpm2-device` names it.
  var device: String { "swtpm:port=\(port)" }

  func start() async throws {
    let helper = try Helper(
      "/usr/bin/swtpm",
      [
        "socket", "--tpm2", "--tpmstate", "dir=\(state)", "--server", "type=tcp,port=\(port)", "--ctrl",
        "type=tcp,port=\(port + 1)", "--flags", "not-need-init,startup-clear", "--pid", "file=\(state)/pid",
      ])
    program.withLock { $0 = helper }
    try await Machine.wait(for: "swtpm") { unsafe access(state + "/pid", F_OK) == 0 && helper.isAlive }
  }
}
