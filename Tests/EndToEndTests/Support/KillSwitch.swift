import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The preloaded library that kills a process at a chosen system call and can cut its disk's power, built once per run.
enum KillSwitch {
  struct NotBuilt: Error, CustomStringConvertible { var description: String }

  /// The library's path.
  static func library() async throws -> String { try await built.value }

  private static let built = Task { () async throws -> String in
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = ["kill-switch.c", "power-cut.c"].map {
      tests.appendingPathComponent("Fixtures/KillSwitch/\($0)").path
    }
    // Beside the program, where nothing of it is left over when the build goes; another run may use it at the same time.
    let folder = URL(fileURLWithPath: DemoHarness.testProgram).deletingLastPathComponent()
    let library = folder.appendingPathComponent("kill-switch.so").path
    let fresh = library + ".\(getpid())"
    let compiler = try await ProgramRun(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", fresh] + sources)
    guard compiler.status == 0 else {
      throw NotBuilt(description: "the toolchain's clang did not build \(sources): \(compiler.error)")
    }
    guard unsafe rename(fresh, library) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw NotBuilt(description: "\(library): \(reason)")
    }
    return library
  }
}
