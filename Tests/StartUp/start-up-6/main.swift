import StartUpProgram
import StateRestoration

let turns = PollableRestorationMainLoop()
let program = StartUpProgram()
program.openNow(turns.mainLoop)
program.pollLines(turns)
