import Foundation
import Glibc
import Synchronization
import Testing

/// swtpm: a TPM 2 as a program, which systemd's library reaches over a loopback port.
final class SoftwareTPM: Sendable {
  // Below those that the kernel gives to connections.
  private static let nextPort = Atomic<Int>(Int(getpid()) % 5000 * 4 + 10_000)
  private let state: String
  private let port: Int
  private let program = Mutex<Helper?>(nil)

  init(in directory: String) throws {
    state = directory + "/tpm"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    var port: Int
    repeat {
      port = Self.nextPort.wrappingAdd(2, ordering: .relaxed).newValue
    } while !Self.isFree(port) || !Self.isFree(port + 1)
    self.port = port
  }

  /// Whether no program listens on a port of this machine.
  private static func isFree(_ port: Int) -> Bool {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
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
