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

/// The frames of a journal file: `length ‖ number ‖ skip ‖ message ‖ mark`, one after another, then zeroes.
///
/// `skip` is the offset of the frame whose number, counted from one, is this one's without its lowest bit. By it and
/// by `mark`, which repeats the length, any frame is found from the last one without reading those between. Only the
/// message is authenticated; a wrong offset leads to a frame that doesn't open under the number it was looked for.
enum JournalFrames {
  /// The bytes before a message.
  static let headerByteCount = 12
  /// The bytes after a message.
  static let markByteCount = 4
  /// The bytes that a frame has besides its message.
  static let overhead = headerByteCount + markByteCount
  /// A longer message is damage; appending one is refused.
  static let byteLimit = 64 << 20
  /// A longer journal is compacted, whatever its base.
  static let journalLimit = 1 << 30
  /// A file that is longer can't be a journal.
  static let fileLimit = journalLimit + byteLimit
  /// Space is reserved in such steps.
  static let allocationStep = 32 << 10
  /// Added to the length at the end, so that a frame's last byte is never zero.
  private static let markBit: UInt32 = 1 << 31

  /// A frame as it is written.
  static func encoded(_ message: [UInt8], number: UInt64, skip: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(message.count + overhead)
    bytes.appendInteger(UInt32(message.count))
    bytes.appendInteger(UInt32(truncatingIfNeeded: number))
    bytes.appendInteger(UInt32(truncatingIfNeeded: skip))
    bytes += message
    bytes.appendInteger(UInt32(message.count) | markBit)
    return bytes
  }

  /// What stands before a message.
  struct Header {
    let messageByteCount: Int
    let number: UInt64
    let skip: Int

    /// Reads 12 bytes; `nil` when no message can have that length.
    init?(_ bytes: ArraySlice<UInt8>) {
      guard bytes.count >= headerByteCount else { return nil }
      var reader = FieldReader(bytes)
      messageByteCount = Int(reader.integer(UInt32.self))
      number = UInt64(reader.integer(UInt32.self))
      skip = Int(reader.integer(UInt32.self))
      guard messageByteCount > 0, messageByteCount <= byteLimit else { return nil }
    }
  }

  /// The message length that a frame's last four bytes repeat; `nil` when they are no mark.
  static func length(mark bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count == markByteCount else { return nil }
    var reader = FieldReader(bytes)
    let mark: UInt32 = reader.integer()
    let length = Int(mark & ~markBit)
    return mark & markBit != 0 && length > 0 && length <= byteLimit ? length : nil
  }

  /// The number, counted from one, of the frame that a frame's `skip` leads to; 0 for none.
  static func skipTarget(ofNumberFromOne number: UInt64) -> UInt64 {
    number & (number &- 1)
  }
}
