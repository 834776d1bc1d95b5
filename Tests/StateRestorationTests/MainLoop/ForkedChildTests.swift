import CTestProcess
import Foundation
import StateRestoration
import Testing

#if canImport(Glibc)
import Glibc

/// A program that forks without starting another one: the child has neither its parent's state nor its signals.
///
/// Not for the thread sanitizer, which delivers signals by a thread of its own that a forked child does not have.
@Suite struct ForkedChildTests {
  /// Makes a child that runs a body and ends.
  @MainActor private static func fork(_ body: () -> Never) -> pid_t {
    let child = test_process_fork()
    if child == 0 { body() }
    return child
  }

  /// Waits for a child; returns how it ended: the signal, or the status plus 256.
  private static func end(of child: pid_t) -> Int32 {
    let status = test_process_end(child)
    return status & 0x7F != 0 ? status & 0x7F : 256 + (status >> 8)
  }

  @Test(arguments: [false, true])
  func `a forked child that exits saves nothing, and its parent goes on`(_ isWriting: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fork-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
      @MainActor [folder = folder as String, isWriting = isWriting as Bool] in
      let draft = StoredValue("draft", "")
      let session = try await RestorationSession.open(at: .directory(folder), root: draft)
      try await session.preserve()
      draft.value = "parent's"
      // In the middle of a save the queue on which it is written is taken.
      if isWriting { _ = Task.immediate { try await session.preserve() } }
      guard Self.end(of: Self.fork { exit(7) }) == 256 + 7 else { exit(4) }
      try session.closeNow()
      exit(3)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!said.contains("state restoration"), "\(said)")
    try await MainActor.run {
      let draft = StoredValue("draft", "")
      try RestorationSession.openNow(at: .directory(folder), root: draft, answering: []).closeNow()
      #expect(draft.value == "parent's")
    }
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `a signal to a forked child ends the child, and not its parent`(_ signal: Int32) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fork-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .exitCode(3)) {
      @MainActor [folder = folder as String, signal = signal as Int32] in
      let draft = StoredValue("draft", "")
      let session = try await RestorationSession.open(at: .directory(folder), root: draft)
      let child = Self.fork {
        // The thread that forks may hold all signals back, as those of libdispatch do.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        sleep(60)
        _exit(0)
      }
      kill(child, signal)
      guard Self.end(of: child) == signal else { exit(4) }
      // The parent takes turns, and would end in one of them.
      try await Task.sleep(for: .milliseconds(300))
      draft.value = "goes on"
      try await session.close()
      exit(3)
    }
  }
}
#endif
