import Foundation
import StateRestoration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program's beginning: reads the command line, opens folder and device, and reports a failure in one line.
@main @MainActor enum RestoreDemo {
  static func main() async {
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.showsHelp {
        print(Arguments.usage)
        return
      }
      ProtectedDevice.hardenProcess()
      try await run(arguments)
    } catch let problem as Arguments.Problem {
      fail(problem.description, status: 2)
    } catch let problem as Script.Problem {
      fail(problem.description, status: 1)
    } catch let failure as ScriptProgram.Failure {
      fail("line \(failure.line) of the script failed: \(failure.description)", status: 1)
    } catch let error as ProtectionError {
      fail(Explanation.line(for: error), status: 1)
    } catch let problem as TerminalSession.Unusable {
      fail(problem.description, status: 2)
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func run(_ arguments: Arguments) async throws {
    let script = try arguments.script.map { try Script(text(ofScript: $0)) }
    let session = script == nil ? try TerminalSession() : nil
    let library = try NoteLibrary(path: arguments.folder ?? defaultFolder)
    let state = arguments.state ?? defaultState
    let directory = state.hasPrefix("/") ? state : FileManager.default.currentDirectoryPath + "/" + state
    var options = ProtectedDevice.Options()
    // The screen is blank from the first moment, so the keys go at once as well.
    options.gracePeriod = .zero
    let device = try await ProtectedDevice.open(at: .directory(directory), options: options)
    // The device opens for reading there; a program that preserves nothing is of no use to its user.
    if unsafe access(directory, W_OK) != 0, errno == EROFS {
      fail("\(directory): \(Explanation.advice(for: EROFS))", status: 1)
    }
    var log: RestorationLog = .silent
    if let path = arguments.log {
      guard let file = RestorationLog.file(at: path) else {
        throw Arguments.Problem(description: "\(path) can't be written. Name a file that can be.")
      }
      log = file
    }
    let application = try DemoApplication(
      library: library, device: device, log: log, hidesTitles: arguments.hidesTitles)
    if let script {
      let program = ScriptProgram(application: application, script: script)
      try await program.run()
      withExtendedLifetime(program) {}
    } else if let session {
      let program = TerminalProgram(application: application, session: session)
      if arguments.followsDesktop { program.followDesktop(log: log) }
      try await program.run()
      withExtendedLifetime(program) {}
    }
  }

  /// The documentation of the package in which the program was built; of the working directory where there is none.
  private static var defaultFolder: String {
    var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path != "/" {
      let docs = folder.appendingPathComponent("Docs").path
      let manifest = folder.appendingPathComponent("Package.swift").path
      if FileManager.default.fileExists(atPath: manifest), FileManager.default.fileExists(atPath: docs) { return docs }
      folder.deleteLastPathComponent()
    }
    return FileManager.default.currentDirectoryPath + "/Docs"
  }

  /// Where the platform keeps the state of programs.
  private static var defaultState: String {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") { return path + "/restore-demo" }
    return FileManager.default.homeDirectoryForCurrentUser.path + "/.local/state/restore-demo"
  }

  private static func text(ofScript path: String) throws(Arguments.Problem) -> String {
    // Any readable file will do, a pipe too.
    let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    guard let file, let data = try? file.readToEnd() ?? Data(), let text = String(validating: data, as: UTF8.self)
    else {
      throw Arguments.Problem(description: "the script \(path) can't be read as text. Name a file of commands.")
    }
    return text
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("restore-demo: \(text)\n".utf8))
    exit(status)
  }
}
