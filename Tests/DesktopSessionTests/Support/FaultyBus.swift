import DesktopSession
import Foundation
import Glibc
import Testing

/// A mock of a desktop behind a proxy that does one thing wrong at one message.
final class FaultyBus: Sendable {
  /// The faults that `bus-proxy.py` explains.
  enum Fault: String, CaseIterable { case none, kill, hang, drop, garble, refuse }

  let desktop: MockDesktop
  private let proxy: Helper

  init() async throws {
    desktop = try MockDesktop()
    try await desktop.start()
    let program = "\(Machine.support)/bus-proxy.py"
    proxy = try Helper("/usr/bin/python3", [program, desktop.directory + "/proxy", desktop.directory + "/bus"])
    try await proxy.line("ready")
  }

  /// The way through the proxy.
  var address: BusAddress { .address("unix:path=\(desktop.directory)/proxy") }

  /// Counts messages from one on, and has something go wrong at one of them.
  func prepare(_ fault: Fault, at number: Int) async throws {
    try await command("fault \(fault.rawValue) \(number) \(desktop.bus.identifier)")
  }

  /// Has the bus work again.
  func mend(_ fault: Fault) async throws {
    if fault == .kill { try await desktop.start() }
    if fault == .hang { try await command("resume") }
  }

  private func command(_ line: String) async throws {
    let position = proxy.output.count
    proxy.tell(line)
    try await proxy.line("done", after: position)
  }

  /// What the proxy has said: a line for each message and fault.
  var lines: [String] { proxy.output }
}
