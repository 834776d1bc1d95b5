import FoundationEssentials

/// Where a journal ends: what the next one binds, and what tells that nobody has appended since.
struct JournalEnd: Hashable, Sendable {
  /// The journal's number among those of its generation.
  var index: UInt32
  /// The journal's own identifier.
  var identifier: [UInt8]
  /// How many frames it has.
  var frameCount: UInt64
  /// What the last frame's key commits to; zeroes before the first.
  var lastCommitment: [UInt8]
  /// The offset after the last frame.
  var offset: Int
  /// Whether this run made the journal, so that nobody else appends to it.
  var isOurs = false

  /// No commitment.
  static let noCommitment = [UInt8](repeating: 0, count: 32)
}

/// What a journal binds besides its own header: its base, and where the journal before it ended.
struct JournalBinding: Hashable, Sendable {
  /// The size in the file.
  static let byteCount = 112

  /// The base's own identifier.
  var baseIdentifier: [UInt8]
  /// What the base's key commits to.
  var baseCommitment: [UInt8]
  /// The journal's number among those of its generation.
  var index: UInt32
  /// Where the journal before it ended; `nil` for the first.
  var previous: JournalEnd?

  /// How many frames of the journal before it count, read from the bytes of a binding.
  static func previousFrameCount(_ bytes: [UInt8]) -> UInt64 {
    var reader = FieldReader(bytes[72...])
    return reader.integer()
  }

  /// The bytes that follow the journal's header, and are authenticated with every frame.
  var encoded: [UInt8] {
    var bytes = baseIdentifier + baseCommitment
    bytes.appendInteger(index)
    bytes.appendInteger(UInt32(0))
    bytes += previous?.identifier ?? [UInt8](repeating: 0, count: 16)
    bytes.appendInteger(previous?.frameCount ?? 0)
    bytes += previous?.lastCommitment ?? JournalEnd.noCommitment
    return bytes
  }
}

/// The frames of a journal file: `length ‖ message ‖ length`, then zeroes.
enum JournalFrames {
  /// The bytes that a frame has besides its message.
  static let overhead = 8
  /// A longer frame is damage; appending one is refused.
  static let byteLimit = 64 << 20
  /// Space is reserved in such steps.
  static let allocationStep = 64 << 10

  /// A frame as it is written.
  static func encoded(_ message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(message.count + overhead)
    bytes.appendInteger(UInt32(message.count))
    bytes += message
    bytes.appendInteger(UInt32(message.count))
    return bytes
  }

  /// The message at an offset, or `nil` where no whole frame is.
  static func message(in bytes: [UInt8], at offset: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, bytes.count - offset > overhead else { return nil }
    var reader = FieldReader(bytes[offset...])
    let length = Int(reader.integer(UInt32.self))
    guard length > 0, length <= byteLimit, length <= bytes.count - offset - overhead else { return nil }
    let message = reader.take(length)
    guard Int(reader.integer(UInt32.self)) == length else { return nil }
    return message
  }
}

/// What a generation's journals hold.
struct JournalChain: Sendable {
  /// The frames, oldest first.
  var frames: [Data] = []
  /// The journals, oldest first.
  var ends: [JournalEnd] = []
  /// Bytes that were no whole frame, or stand after the first one that is damaged.
  var tailDropped = 0
  /// The bytes of all journals, headers included.
  var byteCount = 0
  /// Whether a journal was damaged, so that nothing after it counts.
  var isBroken = false
  /// Bytes other than zero after the last journal's last frame.
  var lastTail = 0
  /// What each frame of the last journal commits to, and where it ends.
  var lastFrames: [(commitment: [UInt8], offset: Int)] = []

  /// Where the last journal ends if it has only so many frames; `nil` if it never had that end.
  func lastEnd(cutTo frameCount: UInt64) -> JournalEnd? {
    guard var end = ends.last, frameCount > 0, frameCount <= end.frameCount else { return nil }
    let frame = lastFrames[Int(frameCount) - 1]
    end.frameCount = frameCount
    end.lastCommitment = frame.commitment
    end.offset = frame.offset
    return end
  }
}
