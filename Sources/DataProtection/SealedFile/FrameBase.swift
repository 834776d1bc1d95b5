import Sealing

/// A sealed base, with room for frames behind it.
protocol FrameBase {
  /// What its header says.
  var fields: SealedFields { get }
  /// Where it ends in the file, and frames begin.
  var endOffset: Int { get }
}

/// What is behind a base at most.
enum FrameRoom {
  /// So many frames a generation has at most: each costs a few microseconds at opening.
  static let limit = 256
  /// A base counts as at least so long when the room for frames is measured.
  fileprivate static let smallBase = 64 << 10
}

extension FrameBase {
  /// Where the frames of the generation may lie: beyond that a whole generation is cheaper to read.
  ///
  /// Whoever writes, reads or looks for frames asks here. The header's length doesn't count, so that the frames of a generation
  /// fit behind the same base under another class.
  var frameRoom: Range<Int> { endOffset..<endOffset + max(fields.messageByteCount, FrameRoom.smallBase) / 4 }

  /// So many frames it has at most; a protected file as many as it has chunks, so that a large one is seldom written anew.
  var frameLimit: Int {
    guard fields.kind == .file else { return FrameRoom.limit }
    return max(FrameRoom.limit, fields.messageByteCount / ChunkedEncryption.chunkByteCount)
  }
}
