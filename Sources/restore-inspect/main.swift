import DataProtection
import Foundation

// Before anything else, so that a passcode is never in memory that a core dump or a debugger could show.
ProcessHardening.apply()

let variables = ProcessInfo.processInfo.environment
let isPlain = variables["NO_COLOR"].map { !$0.isEmpty } ?? false || variables["TERM"] == "dumb"
let style = InspectStyle(hasColours: isatty(STDOUT_FILENO) == 1 && !isPlain)
let result = await InspectTool(style: style).run(Array(CommandLine.arguments.dropFirst())) {
  source throws(InspectFailure) in try PasscodeReader.read(source)
}
// A reader that has gone away is no reason to end by a signal.
signal(SIGPIPE, SIG_IGN)
try? FileHandle.standardOutput.write(contentsOf: Data(result.output.utf8))
try? FileHandle.standardError.write(contentsOf: Data(result.error.utf8))
exit(result.code.rawValue)
