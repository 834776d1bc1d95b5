import Foundation
import OwnThread
import Testing

/// Each way in which a program can begin and keep its main thread, as a process: its state comes back however that ends.
struct StartUpTests {
  /// The program and its argument.
  struct Style: Sendable, CustomTestStringConvertible {
    var program: String
    var argument = ""
    var environment: [String: String] = [:]
    var testDescription: String { "\(program) \(argument)" }
  }

  static let styles: [Style] = [
    Style(program: "start-up-5"), Style(program: "start-up-6"), Style(program: "start-up", argument: "poll"),
    Style(program: "start-up", argument: "frames"), Style(program: "start-up", argument: "run-loop"),
    Style(program: "start-up", argument: "dispatch-main"), Style(program: "start-up-async", argument: "open"),
    Style(program: "start-up-async", argument: "run"),
  ]

  @Test(arguments: styles) func `a program comes back after each end`(_ style: Style) async throws {
    try await StartUpRuns(style).comeBackAfterEachEnd()
  }

  @Test(arguments: [
    Style(program: "start-up", argument: "blocked"), Style(program: "start-up-async", argument: "blocked"),
    Style(program: "start-up-async", argument: "run-blocked"),
  ]) func `a program that blocks without a main loop is told so, and a signal ends it all the same`(
    _ style: Style
  ) async throws {
    try await StartUpRuns(style).beTold("the main actor gets no turn: do not block the main thread")
  }

  @Test(arguments: [
    Style(program: "start-up", argument: "loop-forgotten"), Style(program: "start-up", argument: "windows-forgotten"),
    Style(program: "start-up-async", argument: "loop-forgotten"),
    Style(program: "start-up-async", argument: "run-loop-forgotten"),
  ]) func `a program that gives a main loop and never runs its blocks is told so, and a signal ends it all the same`(
    _ style: Style
  ) async throws {
    try await StartUpRuns(style).beTold("the main loop of the configuration does not run what it is given")
  }

  @Test(arguments: [
    Style(program: "start-up", argument: "windows"), Style(program: "start-up-async", argument: "windows"),
  ]) func `windows come back before the first frame, after each end`(_ style: Style) async throws {
    try await StartUpRuns(style).windowsComeBackAfterEachEnd()
  }

  @Test func `a passcode is set, changed and taken away in calls that block`() async throws {
    try await StartUpRuns(Style(program: "start-up", argument: "poll")).keepAPasscode()
  }

  // Asked so often that it shows.
  private static let often = ["START_UP_ASKS_EVERY": "20"]

  @Test func `an idle program sleeps, where every change is noticed`() async throws {
    let runs = try StartUpRuns(Style(program: "start-up", argument: "poll", environment: Self.often))
    let wakes = try await runs.countWakesWhileNothingHappens(for: 4)
    // libdispatch wakes a thread once a second; somebody who looks every 20 ms would be woken two hundred times.
    #expect(wakes.main == 0 && wakes.all < 40)
  }

  @Test func `an idle program is hardly ever asked for changes that can't be noticed`() async throws {
    let runs = try StartUpRuns(Style(program: "start-up", argument: "silent", environment: Self.often))
    // Its main thread is woken twice each time that it is asked.
    #expect(try await runs.countWakesWhileNothingHappens(for: 4).main < 40)
  }
}
