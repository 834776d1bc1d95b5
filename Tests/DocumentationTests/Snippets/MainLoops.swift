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
  // snippet end
}
