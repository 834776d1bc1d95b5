import DataProtection
import Foundation

// Before anything else, so that a passcode is never in memory that a core dump or a debugger could show.
ProtectedDevice.hardenProcess()

let variables = ProcessInfo.processInfo.environment
let isPlain = variables["NO_COLOR"].map { !$0.isEmpty } ?? false || variables["TERM"] == "dumb"
let style = InspectStyle(hasColours: isatty(STDOUT_FILENO) == 1 && !isPlain)
let result = await InspectTool(style: style).run(Array(CommandLine.arguments.dropFirst())) {
  source throws(InspectFailure) in try PasscodeReader.read(source)
}
// A reader that has gone away is no reason to end by a signal.
signal(SIGPIPE, SIG_IGN)
var code = result.code
var complaint = result.error
if let failure = StandardOutput.write(result.output), failure != EPIPE {
  code = code.combined(with: .unavailable)
  complaint = "restore-inspect: The output could not be written (errno \(failure)).\n"
}
if let page = result.page, let failure = StandardOutput.write(page.text, toNewFile: page.path) {
  code = code.combined(with: .unavailable)
  let reason = failure == EEXIST ? "there is a file already" : "errno \(failure)"
  complaint += "restore-inspect: \(InspectStyle.safe(page.path)) could not be written: \(reason).\n"
}
try? FileHandle.standardError.write(contentsOf: Data(complaint.utf8))
exit(code.rawValue)
