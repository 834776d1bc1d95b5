import StartUpProgram
import StateRestoration

// In this language mode the code of `main.swift` is on the main actor, but the compiler doesn't know.
MainActor.assumeIsolated {
  let turns = RestorationMainLoop.Pollable()
  let program = StartUpProgram()
  program.openNow(turns.mainLoop)
  program.pollLines(turns)
}
