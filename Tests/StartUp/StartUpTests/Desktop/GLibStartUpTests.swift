import Foundation
import OwnThread
import Testing

/// Programs whose main thread GLib has: a loop of its own, and a GTK application that opens its session when it is activated.
struct GLibStartUpTests {
  @Test func `a program in a GLib loop comes back after each end`() async throws {
    try await StartUpRuns(StartUpTests.Style(program: "start-up", argument: "glib")).comeBackAfterEachEnd()
  }

  @Test func `a GTK application comes back after each end`() async throws {
    let screen = try await onThread { try VirtualScreen() }
    defer { screen.end() }
    var style = StartUpTests.Style(program: "start-up", argument: "gtk")
    style.environment = ["DISPLAY": screen.display, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo"]
    try await StartUpRuns(style).comeBackAfterEachEnd()
  }
}

/// An X server that shows nothing.
final class VirtualScreen: Sendable {
  /// Its name, for the variable `DISPLAY`.
  let display: String
  private let identifier: Int32

  init() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/Xvfb")
    process.arguments = ["-displayfd", "1", "-screen", "0", "800x600x24"]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
    try process.run()
    identifier = process.processIdentifier
    var number = ""
    while !number.hasSuffix("\n") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      number += String(decoding: data, as: UTF8.self)
    }
    display = ":" + number.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func end() { kill(identifier, SIGTERM) }
}
