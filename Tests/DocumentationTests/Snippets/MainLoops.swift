import Foundation

enum MainLoopSnippets {
  // snippet: MainLoops
  // A terminal: a thread of its own blocks in reading, a stream brings the bytes to the main actor.
  @MainActor static func runTerminal(handle: (UInt8) async -> Void) async {
    let (bytes, sender) = AsyncStream.makeStream(of: UInt8.self)
    Thread.detachNewThread {
      while let byte = try? FileHandle.standardInput.read(upToCount: 1)?.first { sender.yield(byte) }
      sender.finish()
    }
    for await byte in bytes { await handle(byte) }
  }

  // A loop of frames (SDL, a game): what waits for the main actor gets its turn once a frame.
  @MainActor static func runFrames(drawFrame: () -> Bool) {
    while drawFrame() {
      _ = RunLoop.main.run(mode: .default, before: .now)
    }
  }

  // A C main loop (GTK): its idle or timeout callback, which C calls on the main thread, does the same.
  static let onIdle: @convention(c) () -> Int32 = {
    _ = RunLoop.main.run(mode: .default, before: .now)
    return 1  // to be called again
  }
  // snippet end
}
