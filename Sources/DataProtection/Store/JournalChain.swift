import FoundationEssentials

/// The journals of a generation, from the first to the last that fits on the one before it.
struct JournalChain: Sendable {
  /// The journals, oldest first.
  var journals: [JournalReader] = []
  /// Bytes that were no whole frame, or stand after the first one that is damaged.
  var tailDropped = 0
  /// Whether a journal was damaged, so that nothing after it counts.
  var isBroken = false

  /// Where each journal ends.
  var ends: [JournalEnd] { journals.map(\.end) }
  /// The bytes of all journals, headers included.
  var byteCount: Int { journals.reduce(0) { $0 + $1.end.offset } }
  /// Bytes after the last journal's last frame.
  var lastTail: Int { journals.last?.tail ?? 0 }
  /// How many frames there are.
  var frameCount: Int { journals.reduce(0) { $0 + Int($1.end.frameCount) } }

  /// Opens one frame, counted through all journals.
  func frame(at index: Int) throws(ProtectionError) -> Data {
    var number = UInt64(index)
    for journal in journals {
      if number < journal.end.frameCount { return try journal.frame(number) }
      number -= journal.end.frameCount
    }
    throw ProtectionError(.invalidArgument, "There are only \(frameCount) frames; number \(index) was asked for.")
  }

  /// Opens all frames, oldest first.
  func readFrames() throws(ProtectionError) -> [Data] {
    var frames: [Data] = []
    for journal in journals { frames += try journal.readFrames() }
    return frames
  }
}
