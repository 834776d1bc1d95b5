import StartUpProgram
import StateRestoration

let turns = PollableMainLoop()
let program = StartUpProgram()
program.openNow(turns.mainLoop)
program.pollLines(turns)
