import Foundation
import StartUpProgram
import StateRestoration

/// A program with a synchronous `main`, and one of several main loops.
@main enum StartUp {
  @MainActor static func main() {
    let program = StartUpProgram()
    switch CommandLine.arguments.last {
    case "poll":
      let turns = RestorationMainLoop.Pollable()
      program.openNow(turns.mainLoop)
      program.pollLines(turns)
    case "silent":
      let turns = RestorationMainLoop.Pollable()
      program.pollLines(turns, answering: program.openSilently(turns.mainLoop))
    case "frames":
      let turns = RestorationMainLoop.Pollable()
      program.openNow(turns.mainLoop)
      program.pollLines(turns, frame: 16)
    case "run-loop":
      program.openNow()
      program.readLines { block in DispatchQueue.main.async(execute: block) }
      RunLoop.main.run()
    case "dispatch-main":
      // The main actor has left the main thread when this block runs.
      DispatchQueue.main.async {
        program.openNow()
        program.readLines { block in DispatchQueue.main.async(execute: block) }
      }
      dispatchMain()
    case "blocked":
      program.openNow()
      program.pollLines(nil)
    case "loop-forgotten":
      let turns = RestorationMainLoop.Pollable()
      program.openNow(turns.mainLoop)
      program.pollLines(nil)
    case "windows", "windows-forgotten":
      let turns = RestorationMainLoop.Pollable()
      let windows = StartUpWindows()
      windows.openNow(turns.mainLoop)
      program.pollLines(CommandLine.arguments.last == "windows" ? turns : nil, answering: windows.answer)
    case "glib": runGLib(program)
    case "gtk": runGTK(program)
    default: exit(2)
    }
  }
}
