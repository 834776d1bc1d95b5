import FoundationShim

/// The frames behind the base of a generation, as far as they are authentic.
///
/// Each one is a length (4 bytes) and a sealed message; zeroes end them. A frame counts only in its own place, by its
/// number and the one before it. In a protected file the highest bit of the length says that the frame makes the content
/// longer, so that the length of the content is known without a key.
struct FrameScan: Sendable {
  /// The frames, oldest first.
  var frames: [Data] = []
  /// Where the next one goes.
  var end: Int
  /// What the last one's key commits to, or the base's.
  var commitment: [UInt8]
  /// Bytes behind the last frame that are neither a frame nor zeroes.
  var tailDropped = 0

  /// The length and the message of a frame, as they are written.
  ///
  /// - Parameter grows: Whether it makes the content of a protected file longer.
  static func bytes(of message: [UInt8], grows: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(message.count + lengthByteCount)
    bytes.appendInteger(UInt32(message.count) | (grows ? growsBit : 0))
    return bytes + message
  }

  /// So many bytes before a message say how long it is.
  static let lengthByteCount = 4
  private static let growsBit: UInt32 = 1 << 31

  /// What the bytes before a message say; nil for none.
  static func length(_ bytes: ArraySlice<UInt8>) -> (byteCount: Int, grows: Bool)? {
    guard bytes.count >= lengthByteCount else { return nil }
    var reader = FieldReader(bytes)
    let value = reader.integer(UInt32.self)
    let count = Int(value & ~growsBit)
    return count > 0 ? (count, value & growsBit != 0) : nil
  }

  /// Where the frames end that the bytes behind a base hold, by their lengths alone: the last one may end with zeroes of its own.
  static func end(ofFramesIn bytes: [UInt8]) -> Int {
    var end = 0
    while let (count, _) = length(bytes[end...]), count <= bytes.count - end - lengthByteCount {
      end += lengthByteCount + count
    }
    return max(end, bytes.countWithoutZerosAtEnd)
  }

  /// No frames behind a base.
  init(behind end: Int, commitment: [UInt8]) {
    self.end = end
    self.commitment = commitment
  }

  /// Reads the frames of an opened generation; throws `.locked` and what the disk says, never that a frame is damaged.
  init(_ source: any SealedSource, _ content: any SealedContent) throws(ProtectionError) {
    let start = content.endOffset
    self.init(behind: start, commitment: content.commitment)
    let room = content.frameRoom.clamped(to: start..<max(start, source.byteCount))
    // A file that goes on behind the room for frames was made longer by somebody: nothing of that is read.
    tailDropped = source.byteCount - room.upperBound
    guard !room.isEmpty else { return }
    let bytes = try source.read(room)
    var position = bytes.startIndex
    let mayGrow = content.fields.kind == .file
    while frames.count < content.frameLimit, let message = Self.message(in: bytes, at: position, mayGrow: mayGrow) {
      do throws(ProtectionError) {
        let (frame, next) = try content.frames.open(message, number: UInt64(frames.count + 1), previous: commitment)
        frames.append(frame)
        commitment = next
      } catch  where error.code == .corrupt {
        break
      }
      position = message.endIndex
    }
    end = start + position
    tailDropped += max(0, bytes.countWithoutZerosAtEnd - position)
  }

  /// The message that begins at a position; nil when none that could be one does.
  private static func message(in bytes: [UInt8], at position: Int, mayGrow: Bool) -> ArraySlice<UInt8>? {
    guard let (count, grows) = length(bytes[position...]), mayGrow || !grows,
      count <= bytes.count - position - lengthByteCount
    else { return nil }
    return bytes[(position + lengthByteCount)..<(position + lengthByteCount + count)]
  }
}
