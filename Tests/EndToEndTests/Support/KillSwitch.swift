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
    let library = FileManager.default.temporaryDirectory.appendingPathComponent("kill-switch-\(getpid()).so").path
    let compiler = try await ProgramRun(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library] + sources)
    guard compiler.status == 0 else {
      throw NotBuilt(description: "the toolchain's clang did not build \(sources): \(compiler.error)")
    }
    return library
  }
}
