/// A sealed base, with room for frames behind it.
protocol FrameBase {
  /// What its header says.
  var fields: SealedFields { get }
  /// Where it ends in the file, and frames begin.
  var endOffset: Int { get }
}

/// A base counts as at least so long when the room for frames is measured.
private let smallBase = 64 << 10

extension FrameBase {
  /// Where the frames of the generation may lie: beyond that a whole generation is cheaper to read.
  ///
  /// Whoever writes, reads or looks for frames asks here. The header's length doesn't count, so that the frames of a generation
  /// fit behind the same base under another class.
  var frameRoom: Range<Int> { endOffset..<endOffset + max(fields.messageByteCount, smallBase) / 4 }
}
