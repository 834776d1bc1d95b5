import ApplicationLifecycle
import Foundation
import Glibc
import StateRestoration
import TestTraits
import Testing

/// Signals are sent to a real process: the child of an exit test, which ends as the signal says.
@Suite(.tags(.threads)) struct SignalDriverTests {
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
  func `a signal to end preserves, tells the program, and ends the process by that signal`(number: Int32) async {
    let result = await #expect(
      processExitsWith: .signal(number), observing: [\.standardOutputContent]
    ) { [number] in
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        kill(getpid(), number)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"])
  }

  @Test func `a second signal to end during the first changes nothing`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGTERM), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        program.whilePreserving = {
          kill(getpid(), SIGINT)
          kill(getpid(), SIGTERM)
        }
        kill(getpid(), SIGTERM)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"])
  }

  @Test func `Ctrl-Z preserves before the process stops, and fg brings it back`() async {
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        try JobControl.stopAndContinue()
        program.onActive = { exit(7) }
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(
      lines(output) == [
        "restore", "willResignActive", "didEnterBackground", "preserve", "stopped", "willEnterForeground",
      ])
  }

  @Test func `a stopped driver gives the signals back`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      await SignalledProgram.run { program in
        program.driver.stop()
        kill(getpid(), SIGTERM)
      }
    }
  }

  @Test func `two started drivers in one process are a mistake`() async {
    await #expect(processExitsWith: .failure) {
      await SignalledProgram.run { program in
        SignalDriver().start(driving: program.lifecycle)
        exit(0)
      }
    }
  }

  @Test func `a signal to go on that is in hand already keeps the process from stopping`() async {
    let result = await #expect(
      processExitsWith: .exitCode(9), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        program.onActive = { exit(9) }
        program.whilePreserving = { kill(getpid(), SIGCONT) }
        kill(getpid(), SIGTSTP)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(
      lines(output) == ["restore", "willResignActive", "didEnterBackground", "preserve", "willEnterForeground"])
  }

  @Test func `a signal to end that arrives while Ctrl-Z is served ends a process that would have stopped`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        program.whilePreserving = { kill(getpid(), SIGTERM) }
        kill(getpid(), SIGTSTP)
      }
    }
  }

  @Test(arguments: [(SIGHUP, SIGTERM), (SIGINT, SIGTERM), (SIGTERM, SIGHUP), (SIGTSTP, SIGTERM)])
  func `a signal that was ignored stays ignored`(number: Int32, other: Int32) async {
    let result = await #expect(
      processExitsWith: .signal(other), observing: [\.standardOutputContent]
    ) { [number, other] in
      await SignalledProgram.run(ignoring: number) { program in
        try await program.lifecycle.launch()
        program.whilePreserving = { if program.lifecycle.endReason != nil { exit(1) } }
        kill(getpid(), number)
        for _ in 0..<1_000 { await Task.yield() }
        kill(getpid(), other)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"], "once, for the other one")
  }

  @Test func `Ctrl-Z ends a program with exitsOnSuspend, with success`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run(exitsOnSuspend: true) { program in
        try await program.lifecycle.launch()
        kill(getpid(), SIGTSTP)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"])
  }

  @Test func `a driver can be started after another one was stopped, any number of times`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGINT), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        for _ in 0..<300 {
          program.driver.stop()
          program.driver.start(driving: program.lifecycle)
        }
        kill(getpid(), SIGINT)
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"])
  }

  @Test func `a toolkit's driver and signals ask one life cycle in turn, and the second end is refused`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGTERM), observing: [\.standardOutputContent]
    ) {
      await SignalledProgram.run { program in
        try await program.lifecycle.launch()
        let toolkit = WindowDriver()
        toolkit.start(driving: program.lifecycle)
        program.whilePreserving = { kill(getpid(), SIGTERM) }
        await toolkit.lastWindowClosed()
      }
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(lines(output) == ["restore", "willResignActive", "willTerminate", "preserve"])
  }

  @Test func `an application answers signals, and ends by one after its last word`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGTERM), observing: [\.standardOutputContent]
    ) { @MainActor in
      for signal in Lifecycle.Signal.allCases { Glibc.signal(signal.number, SIG_DFL) }
      let fake = FakeApplication()
      fake.application.answerSignals([.hangUp]) { _ in exit(1) }
      fake.application.answerSignals { signal in
        FileHandle.standardOutput.write(Data("\(signal), saved: \(fake.log.all.contains("didPreserve"))\n".utf8))
      }
      try await fake.application.launch()
      kill(getpid(), SIGTERM)
      try await Task.sleep(for: .seconds(10))
      withExtendedLifetime(fake) {}
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.contains("SIGTERM, saved: true"))
  }

  @Test func `an application that stopped answering leaves signals to the system`() async {
    await #expect(processExitsWith: .signal(SIGHUP)) { @MainActor in
      Glibc.signal(SIGHUP, SIG_DFL)
      let fake = FakeApplication()
      fake.application.answerSignals { _ in exit(1) }
      fake.application.stopAnsweringSignals()
      kill(getpid(), SIGHUP)
      withExtendedLifetime(fake) {}
    }
  }

  private func lines(_ output: String) -> [String] {
    output.split(separator: "\n").map(String.init).filter { known.contains($0) }
  }

  private let known: Set<String> = [
    "restore", "willResignActive", "didEnterBackground", "preserve", "stopped", "willEnterForeground", "willTerminate",
  ]
}

/// A program that prints what it is told, driven by the signals of its process.
@MainActor final class SignalledProgram: LifecycleDelegate, LifecycleWork {
  let lifecycle: Lifecycle
  let driver = SignalDriver()
  var whilePreserving: @MainActor () -> Void = {}
  var onActive: @MainActor () -> Void = {}

  init(exitsOnSuspend: Bool) { lifecycle = Lifecycle(exitsOnSuspend: exitsOnSuspend) }

  /// Starts the driver, does something, and then lives until a signal ends the process.
  static func run(
    exitsOnSuspend: Bool = false, ignoring ignored: Int32? = nil,
    _ body: @MainActor (SignalledProgram) async throws -> Void
  ) async {
    // A shell that starts the tests in the background ignores some for them.
    for signal in Lifecycle.Signal.allCases { Glibc.signal(signal.number, SIG_DFL) }
    if let ignored { signal(ignored, SIG_IGN) }
    let program = SignalledProgram(exitsOnSuspend: exitsOnSuspend)
    program.lifecycle.delegate = program
    program.lifecycle.work = program
    program.driver.start(driving: program.lifecycle)
    do { try await body(program) } catch { print("error: \(error)") }
    let (never, _) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    withExtendedLifetime(program) {}
  }

  private func note(_ name: String) {
    // Written at once: the process may end at any moment.
    FileHandle.standardOutput.write(Data((name + "\n").utf8))
  }

  var memoryWarningResponders: [any Lifecycle.MemoryWarningResponder] { [] }

  func perform(_ step: LifecycleStep) async {
    if step == .restore || step == .preserve { note(step.description) }
    if step == .preserve {
      whilePreserving()
      // The signals just sent have every chance to be handled meanwhile.
      for _ in 0..<1_000 { await Task.yield() }
    }
  }

  func didBecomeActive() { onActive() }
  func willResignActive() { note("willResignActive") }
  func didEnterBackground() { note("didEnterBackground") }
  func willEnterForeground() { note("willEnterForeground") }
  func willTerminate() { note("willTerminate") }
}

/// An adapter for a toolkit, as one would write it.
@MainActor private final class WindowDriver {
  private weak var lifecycle: Lifecycle?
  func start(driving lifecycle: Lifecycle) { self.lifecycle = lifecycle }
  func stop() { lifecycle = nil }
  func lastWindowClosed() async { try? await lifecycle?.terminate() }
}
