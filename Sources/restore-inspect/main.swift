import DataProtection
import Foundation

let isTerminal =
  isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
  && ProcessInfo.processInfo.environment["TERM"] != "dumb"
let result = await InspectTool(style: InspectStyle(hasColours: isTerminal)).run(
  Array(CommandLine.arguments.dropFirst())
) { source throws(InspectFailure) in try PasscodeReader.read(source) }
FileHandle.standardOutput.write(Data(result.output.utf8))
FileHandle.standardError.write(Data(result.error.utf8))
exit(result.code.rawValue)
