import DesktopSession
import Foundation
import Glibc
import StateRestoration
import Testing

/// A real elogind, which locks a real session and believes that it puts the machine to sleep.
@Suite(.serialized) @MainActor struct ElogindTests {
  let desktop: MockDesktop
  private let elogind: Helper
  private let session: Helper

  init() async throws {
    desktop = try MockDesktop()
    try await desktop.startBus()
    let root = try #require(
      ProcessInfo.processInfo.environment["ELOGIND"], "this machine has no elogind: .ci/desktop unpacks one")
    elogind = try Helper(
      "/usr/bin/unshare", ["--mount", "\(Machine.support)/elogind.sh", root, desktop.directory])
    let directory = desktop.directory
    try await Machine.wait(for: "elogind") { [elogind] in
      try #require(elogind.isAlive, "elogind has ended: it needs to be root, and mounts")
      return Self.names(on: directory).contains("org.freedesktop.login1")
    }
    session = try Helper(
      "/usr/bin/python3", ["\(Machine.support)/elogind-session.py", desktop.address, "\(getpid())"])
    try await session.line("session")
  }

  /// The names on the bus.
  private static func names(on directory: String) -> String {
    guard
      let list = try? Helper("/usr/bin/busctl", ["--address=unix:path=\(directory)/bus", "list", "--no-legend"])
    else { return "" }
    while list.isAlive { usleep(1000) }
    return list.output.joined(separator: "\n")
  }

  private func program() async throws -> SessionProgram {
    let program = try await SessionProgram(on: desktop) { $0.sessionBus = .none }
    try await Machine.wait(for: "elogind: \(program.driver.report)") {
      program.driver.report.holdsInhibitor && program.driver.report.services[.logind]?.isConnected == true
    }
    return program
  }

  private func tell(_ command: String) async throws {
    let position = session.output.count
    session.tell(command)
    try await session.line("done", after: position)
  }

  private var power: String? {
    try? String(contentsOfFile: desktop.directory + "/power/state", encoding: .utf8).trimmingCharacters(in: .newlines)
  }

  @Test func `a session that elogind locks locks the device`() async throws {
    let program = try await program()
    let path = try #require(session.output.first?.split(separator: " ").last)
    #expect(program.driver.report.services[.logind] == .connected("session \(path)"))
    if let library = ProcessInfo.processInfo.environment["SESSION_LIBRARY"] {
      #expect(unsafe dlopen(library, RTLD_NOW | RTLD_NOLOAD) != nil, "\(library) is the one that is used")
    }
    program.draft.text = "unsaved"
    try await tell("lock")
    try await program.wait(forEntry: "preserved and locked with the screen")
    #expect(program.device.lockState != .unlocked)
    try await tell("unlock")
    try await program.wait(for: .active)
    #expect(program.driver.report.incidents == [])
  }

  @Test func `elogind puts the machine to sleep once the state is durable and the keys are gone`() async throws {
    let program = try await program()
    let (device, directory) = (program.device, desktop.directory)
    #expect(power == "freeze mem")
    var early: String?
    program.draft.text = "unsaved"
    program.delegate.onSave = {
      // Time enough for a machine that does not wait.
      usleep(300_000)
      early = try? String(contentsOfFile: directory + "/power/state", encoding: .utf8)
    }
    try await tell("suspend")
    try await Machine.wait(for: "the machine to sleep") { power == "mem" }
    #expect(early == "freeze mem\n", "it waited for the save")
    #expect(device.lockState == .locked)
    let log = program.log
    let order = ["PrepareForSleep(true)", "preserved durable", "locked before sleep", "the inhibitor is let go"]
      .map { log.position(of: $0) ?? -1 }
    #expect(order.allSatisfy { $0 >= 0 } && order == order.sorted(), "\(order) in \(log.all)")
    // It wakes at once.
    try await program.wait(forEntry: "PrepareForSleep(false)")
    try await Machine.wait(for: "the inhibitor") { program.driver.report.holdsInhibitor }
    try await program.wait(for: .active)
    #expect(program.driver.report.incidents == [])
  }
}
