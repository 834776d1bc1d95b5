import FoundationShim

/// The content of a protected file: what was written as a whole, with the changes since.
struct PatchedContent: Sendable {
  /// What was written as a whole: sealed on disk, or in memory.
  enum Base: Sendable {
    case sealed(any SealedContent)
    case bytes(Data)

    var byteCount: Int {
      switch self {
      case .sealed(let content): content.byteCount
      case .bytes(let bytes): bytes.count
      }
    }

    func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
      switch self {
      case .sealed(let content): try content.read(range)
      case .bytes(let bytes): bytes.dropFirst(range.lowerBound).prefix(range.count)
      }
    }
  }

  let base: Base
  /// The changes, oldest first.
  private(set) var patches: [FilePatch] = []
  /// The length of the whole.
  private(set) var byteCount: Int

  /// Joins a content with its frames; throws `corrupt` when authentic frames don't fit it.
  init(_ base: Base, frames: [Data] = []) throws(ProtectionError) {
    self.base = base
    byteCount = base.byteCount
    patches.reserveCapacity(frames.count)
    for frame in frames { try add(frame) }
  }

  /// Adds a change.
  mutating func add(_ frame: Data) throws(ProtectionError) {
    guard let patch = FilePatch(frame, contentByteCount: byteCount) else {
      throw ProtectionError(.corrupt, "A change of the file does not fit its content.")
    }
    patches.append(patch)
    byteCount = max(byteCount, patch.offset + patch.bytes.count)
  }

  /// Reads a range, which must lie within the content; of what is sealed only its chunks are opened.
  func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    guard range.lowerBound >= 0, range.upperBound <= byteCount else {
      throw ProtectionError(
        .invalidArgument, "The range \(range) is not within the file, which has \(byteCount) bytes.")
    }
    let start = try base.read(range.clamped(to: 0..<base.byteCount))
    guard !patches.isEmpty else { return start }
    return unsafe Data.filled(byteCount: range.count) { target in
      unsafe target.copyBytes(from: start)
      for patch in patches {
        let common = range.clamped(to: patch.offset..<patch.offset + patch.bytes.count)
        guard !common.isEmpty else { continue }
        let bytes = patch.bytes.dropFirst(common.lowerBound - patch.offset).prefix(common.count)
        let place = common.lowerBound - range.lowerBound
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[place...]).copyBytes(from: bytes)
      }
    }
  }

  /// Reads everything.
  func readAll() throws(ProtectionError) -> Data { try read(0..<byteCount) }

  /// The content with one more change, for writing it as a whole.
  func with(_ frame: Data) throws(ProtectionError) -> Data {
    var changed = self
    try changed.add(frame)
    return try changed.readAll()
  }
}

extension OpenedArchive {
  /// The content and what follows it when it is sealed anew: the frames of an archive; those of a protected file become part
  /// of its content.
  func whole() throws(ProtectionError) -> (base: Data, frames: [Data]) {
    guard content.fields.kind == .file else { return (try readAll(), frames) }
    let data = try PatchedContent(.sealed(content), frames: frames).readAll()
    readMark.set()
    return (data, [])
  }
}
