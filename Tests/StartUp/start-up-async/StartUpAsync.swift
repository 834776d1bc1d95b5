import Foundation
import StartUpProgram
import StateRestoration

/// A program with an asynchronous `main`, which blocks the main actor once it has its state.
@main enum StartUpAsync {
  @MainActor static func main() async throws {
    let program = StartUpProgram()
    let turns = PollableMainLoop()
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
