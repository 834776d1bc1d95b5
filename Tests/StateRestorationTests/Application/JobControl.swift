import Foundation

/// What a user's shell does with a program in a terminal.
enum JobControl {
  /// Starts a shell that sends Ctrl-Z, waits until this process is stopped, and continues it, as `fg` does.
  static func stopAndContinue() throws {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = [
      "-c",
      """
      kill -TSTP \(getpid())
      while ! grep -q '^State:.*T' /proc/\(getpid())/status; do :; done
      echo stopped
      kill -CONT \(getpid())
      """,
    ]
    try shell.run()
  }
}
