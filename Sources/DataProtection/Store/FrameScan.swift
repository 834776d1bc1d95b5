import FoundationShim

/// The frames behind the base of a generation, as far as they are authentic.
///
/// Each one is a length (4 bytes) and a sealed message; zeroes end them. A frame counts only in its own place, by its
/// number and the one before it.
struct FrameScan: Sendable {
  /// The frames, oldest first.
  var frames: [Data] = []
  /// Where the next one goes.
  var end: Int
  /// What the last one's key commits to, or the base's.
  var commitment: [UInt8]
  /// Bytes behind the last frame that are neither a frame nor zeroes.
  var tailDropped = 0

  /// So many frames a generation has at most: each costs a few microseconds at opening.
  static let limit = 256

  /// The length and the message of a frame, as they are written.
  static func bytes(of message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(message.count + lengthByteCount)
    bytes.appendInteger(UInt32(message.count))
    return bytes + message
  }

  private static let lengthByteCount = 4

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
    while frames.count < Self.limit, let message = Self.message(in: bytes, at: position) {
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
  private static func message(in bytes: [UInt8], at position: Int) -> ArraySlice<UInt8>? {
    guard bytes.count - position >= lengthByteCount else { return nil }
    var reader = FieldReader(bytes[position...])
    let count = Int(reader.integer(UInt32.self))
    guard count > 0, count <= bytes.count - position - lengthByteCount else { return nil }
    return bytes[(position + lengthByteCount)..<(position + lengthByteCount + count)]
  }
}

/// A sealed base, with room for frames behind it.
protocol FrameBase {
  /// What its header says.
  var fields: SealedFields { get }
  /// Where it ends in the file, and frames begin.
  var endOffset: Int { get }
}

extension FrameBase {
  /// Where the frames of the generation may lie: beyond that a whole generation is cheaper to read.
  ///
  /// Whoever writes, reads or looks for frames asks here. The header's length doesn't count, so that the frames of a generation
  /// fit behind the same base under another class.
  var frameRoom: Range<Int> {
    endOffset..<endOffset + max(fields.messageByteCount, FrameScan.smallBase) / 4
  }
}

extension FrameScan {
  /// A base counts as at least so long when the room for frames is measured.
  fileprivate static let smallBase = 64 << 10
}
