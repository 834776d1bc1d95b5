import Foundation
import StartUpProgram
import StateRestoration

/// A program with an asynchronous `main`, which blocks the main actor once it has its state.
@main enum StartUpAsync {
  @MainActor static func main() async throws {
    let program = StartUpProgram()
    let turns = RestorationMainLoop.Pollable()
    switch CommandLine.arguments.last {
    case "open":
      program.session = try await RestorationSession.open(
        at: StartUpProgram.location, root: program.draft, configuration: .init(mainLoop: turns.mainLoop))
      program.sayDraft()
      program.pollLines(turns)
    case "run":
      try await RestorationSession.run(
        at: StartUpProgram.location, root: program.draft, configuration: .init(mainLoop: turns.mainLoop)
      ) { session in
        program.session = session
        program.sayDraft()
        program.pollLines(turns)
      }
    case "circumstances": await Circumstances().run()
    case "windows":
      let windows = StartUpWindows()
      windows.windows = try await RestorationSession.open(
        at: StartUpProgram.location, windows: { Draft($0.id) }, configuration: .init(mainLoop: turns.mainLoop))
      windows.sayWindows()
      program.pollLines(turns, answering: windows.answer)
    case "loop-forgotten":
      program.session = try await RestorationSession.open(
        at: StartUpProgram.location, root: program.draft, configuration: .init(mainLoop: turns.mainLoop))
      program.sayDraft()
      program.pollLines(nil)
    case "run-loop-forgotten":
      try await RestorationSession.run(
        at: StartUpProgram.location, root: program.draft, configuration: .init(mainLoop: turns.mainLoop)
      ) { session in
        program.session = session
        program.sayDraft()
        program.pollLines(nil)
      }
    case "blocked":
      program.session = try await RestorationSession.open(at: StartUpProgram.location, root: program.draft)
      program.sayDraft()
      program.pollLines(nil)
    case "run-blocked":
      try await RestorationSession.run(at: StartUpProgram.location, root: program.draft) { session in
        program.session = session
        program.sayDraft()
        program.pollLines(nil)
      }
    default: exit(2)
    }
  }
}
