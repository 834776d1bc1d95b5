import StartUpProgram
import StateRestoration

let turns = RestorationMainLoop.Pollable()
let program = StartUpProgram()
program.openNow(turns.mainLoop)
program.pollLines(turns)
