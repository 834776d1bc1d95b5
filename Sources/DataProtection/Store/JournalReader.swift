import FileSystem
import FoundationEssentials
import Synchronization

/// An opened journal file, whose frames are read one at a time.
final class JournalReader: Sendable {
  private let file: StoreFile
  private let opener: any JournalOpening
  private let start: Int
  /// Where the frames that count end.
  let end: JournalEnd
  /// Where the last frame that counts begins.
  private let lastOffset: Int
  /// Bytes other than zero, and what is between them, after the last frame.
  let tail: Int
  private let places = FramePlaces()

  /// Opens the last frame, and finds the others only when they are asked for.
  ///
  /// When the end is not as a finished append leaves it, or when every frame is to be checked, all frames are opened
  /// from the first on; they end before the first one that is damaged. Throws `.corrupt` when not one frame opens.
  init(
    _ file: StoreFile, _ opener: any JournalOpening, index: UInt32, start: Int, checksAll: Bool
  ) throws(ProtectionError) {
    // Longer than any that was ever written, and perhaps endless: nobody wants to look for its end.
    guard file.byteCount <= JournalFrames.fileLimit else { throw Frames.corrupt }
    self.file = file
    self.opener = opener
    self.start = start
    let frames = Frames(file: file, opener: opener, start: start)
    var end = JournalEnd(
      index: index, identifier: opener.fields.identifier, frameCount: 0, lastCommitment: JournalEnd.noCommitment,
      offset: start)
    let found: Frames.Found
    if !checksAll, let last = try frames.findLast() {
      // Nothing but zeroes follows: that is how it was found.
      found = last
      tail = 0
    } else {
      found = try frames.scan()
      tail = try frames.countTail(from: found.end)
    }
    end.frameCount = found.number + 1
    end.lastCommitment = found.commitment
    end.offset = found.end
    self.end = end
    lastOffset = found.offset
  }

  /// The same journal, of which only the frames up to an end count.
  private init(_ reader: JournalReader, cutTo end: JournalEnd, lastOffset: Int) {
    file = reader.file
    opener = reader.opener
    start = reader.start
    self.end = end
    self.lastOffset = lastOffset
    tail = 0
  }

  /// The journal with only so many frames; `nil` when it doesn't have them.
  func cut(to frameCount: UInt64) throws(ProtectionError) -> JournalReader? {
    guard frameCount > 0, frameCount <= end.frameCount else { return nil }
    guard frameCount < end.frameCount else { return self }
    let frames = Frames(file: file, opener: opener, start: start)
    var offset = try frames.offset(of: frameCount - 1, fromLast: end.frameCount - 1, at: lastOffset)
    // A skip is not authenticated: where it was damaged, the lengths lead there.
    if offset == nil { offset = try frames.walk(to: frameCount - 1) }
    guard let offset, let header = try frames.header(at: offset) else { return nil }
    var cut = end
    cut.frameCount = frameCount
    cut.lastCommitment = try frames.claimedCommitment(at: offset)
    cut.offset = offset + header.messageByteCount + JournalFrames.overhead
    return JournalReader(self, cutTo: cut, lastOffset: offset)
  }

  /// Opens one frame.
  ///
  /// Throws `.corrupt` when it is not what was appended under that number, `.locked` once the key was wiped.
  func frame(_ number: UInt64) throws(ProtectionError) -> Data {
    let frames = Frames(file: file, opener: opener, start: start)
    do throws(ProtectionError) {
      let last = end.frameCount - 1
      if let offset = try frames.offset(of: number, fromLast: last, at: lastOffset, remembering: places) {
        return try frames.open(number, at: offset).frame
      }
    } catch  where error.code == .corrupt {
      // Damaged, or only the skips that lead there: they are not authenticated, and the lengths lead there too.
    }
    guard number < end.frameCount, let offset = try frames.walk(to: number) else {
      throw ProtectionError(.corrupt, "A saved change can't be found in its journal; the journal is damaged.")
    }
    return try frames.open(number, at: offset).frame
  }
}

extension JournalReader {
  /// Opens all frames that count, one after the other; needs no skips.
  func readFrames() throws(ProtectionError) -> [Data] {
    let frames = Frames(file: file, opener: opener, start: start)
    var all: [Data] = []
    var previous = JournalEnd.noCommitment
    var offset = start
    for number in 0..<end.frameCount {
      let found = try frames.open(number, at: offset, previous: previous)
      all.append(found.frame)
      previous = found.commitment
      offset = found.end
    }
    return all
  }
}

/// Where frames begin that were on the way to others, by their numbers from one.
private final class FramePlaces: Sendable {
  private let offsets = Mutex<[UInt64: Int]>([:])

  func offset(of number: UInt64) -> Int? { offsets.withLock { $0[number] } }

  func note(_ offset: Int, of number: UInt64) { offsets.withLock { $0[number] = offset } }
}

/// Finding and opening frames in a file.
private struct Frames {
  /// A frame that was opened.
  struct Found {
    let frame: Data
    let number: UInt64
    let commitment: [UInt8]
    let offset: Int
    let end: Int
  }

  let file: StoreFile
  let opener: any JournalOpening
  let start: Int

  static let corrupt = ProtectionError(
    .corrupt, "A saved change is damaged; the changes before it are whole.")
  /// Most frames are shorter: one read brings all of it.
  private static let usualByteCount = 4096
  /// So much of what follows the last frame is in memory at once.
  private static let tailBlock = 1 << 20

  /// The header of a frame; `nil` when none can be there.
  func header(at offset: Int) throws(ProtectionError) -> JournalFrames.Header? {
    guard offset >= start else { return nil }
    return JournalFrames.Header(try file.read(offset..<offset + JournalFrames.headerByteCount)[...])
  }

  /// The frame that stands where the file's zeroes begin; `nil` when no whole frame ends there.
  func findLast() throws(ProtectionError) -> Found? {
    let window = max(start, file.byteCount - JournalFrames.allocationStep - JournalFrames.markByteCount)
    guard file.byteCount > window else { return nil }
    let bytes = try file.read(window..<file.byteCount)
    let end = window + countUpToLastNonZero(bytes[...])
    guard end - JournalFrames.markByteCount >= start,
      let length = JournalFrames.length(mark: try file.read(end - JournalFrames.markByteCount..<end)[...]),
      let header = try header(at: end - length - JournalFrames.overhead), header.messageByteCount == length
    else { return nil }
    do throws(ProtectionError) {
      return try open(header.number, at: end - length - JournalFrames.overhead)
    } catch  where error.code == .corrupt {
      return nil
    }
  }

  /// Counts the bytes up to the last one that isn't zero, from the file's end backwards and not all at once.
  func countTail(from start: Int) throws(ProtectionError) -> Int {
    var end = file.byteCount
    while end > start {
      let begin = max(start, end - Frames.tailBlock)
      let count = countUpToLastNonZero(try file.read(begin..<end)[...])
      if count > 0 { return begin + count - start }
      end = begin
    }
    return 0
  }

  /// Opens all frames in order and returns the last one before the end or the first damage.
  func scan() throws(ProtectionError) -> Found {
    var last: Found?
    var previous = JournalEnd.noCommitment
    var offset = start
    while true {
      do throws(ProtectionError) {
        let found = try open((last?.number).map { $0 + 1 } ?? 0, at: offset, previous: previous)
        last = found
        previous = found.commitment
        offset = found.end
      } catch  where error.code == .corrupt {
        break
      }
    }
    // A journal without a frame proves nothing: its binding is authenticated with the first one.
    guard let last else { throw Frames.corrupt }
    return last
  }

  /// Where a frame begins, found from the last one by its skips and marks; `nil` when they lead nowhere.
  ///
  /// The way leads over the same frames as the ways to its neighbours: those whose places are known are not read.
  func offset(
    of number: UInt64, fromLast last: UInt64, at lastOffset: Int, remembering places: FramePlaces? = nil
  ) throws(ProtectionError) -> Int? {
    guard number <= last else { return nil }
    let target = number + 1
    var current = last + 1
    var offset = lastOffset
    while current > target {
      let skip = JournalFrames.skipTarget(ofNumberFromOne: current)
      let from = offset
      current = skip >= target ? skip : current - 1
      if let known = places?.offset(of: current) {
        offset = known
        continue
      }
      if skip >= target {
        guard let header = try header(at: from) else { return nil }
        offset = header.skip
      } else {
        guard let previous = try previousOffset(of: from) else { return nil }
        offset = previous
      }
      guard offset >= start, offset < from else { return nil }
      places?.note(offset, of: current)
    }
    return offset
  }

  /// Where a frame begins, found from the first one by the lengths; `nil` when they lead nowhere.
  func walk(to number: UInt64) throws(ProtectionError) -> Int? {
    var offset = start
    for current in 0..<number {
      guard let header = try header(at: offset), header.number == current else { return nil }
      offset += header.messageByteCount + JournalFrames.overhead
      guard offset < file.byteCount else { return nil }
    }
    guard try header(at: offset)?.number == number else { return nil }
    return offset
  }

  private func previousOffset(of offset: Int) throws(ProtectionError) -> Int? {
    guard offset - JournalFrames.overhead > start,
      let length = JournalFrames.length(mark: try file.read(offset - JournalFrames.markByteCount..<offset)[...])
    else { return nil }
    return offset - length - JournalFrames.overhead
  }

  /// What a frame's message says that its key commits to; nothing is proved by it.
  func claimedCommitment(at offset: Int) throws(ProtectionError) -> [UInt8] {
    let begin = offset + JournalFrames.headerByteCount
    guard offset >= start,
      let commitment = opener.claimedCommitment(of: try file.read(begin..<begin + opener.messagePrefixByteCount)[...])
    else { throw Frames.corrupt }
    return commitment
  }

  /// Opens a frame as the one of that number.
  func open(
    _ number: UInt64, at offset: Int, previous: [UInt8]? = nil
  ) throws(ProtectionError) -> Found {
    var commitment = previous ?? JournalEnd.noCommitment
    if previous == nil, number > 0 {
      guard let before = try previousOffset(of: offset) else { throw Frames.corrupt }
      commitment = try claimedCommitment(at: before)
    }
    var bytes = try file.read(offset..<offset + Frames.usualByteCount)
    guard let header = JournalFrames.Header(bytes[...]), header.number == number,
      header.messageByteCount <= file.byteCount - offset - JournalFrames.overhead
    else { throw Frames.corrupt }
    let total = header.messageByteCount + JournalFrames.overhead
    if bytes.count < total { bytes += try file.read(offset + bytes.count..<offset + total) }
    guard bytes.count >= total,
      JournalFrames.length(mark: bytes[(total - JournalFrames.markByteCount)..<total]) == header.messageByteCount
    else { throw Frames.corrupt }
    let message = bytes[JournalFrames.headerByteCount..<(total - JournalFrames.markByteCount)]
    let opened = try opener.open(message, number: number, previous: commitment)
    return Found(
      frame: opened.frame, number: number, commitment: opened.commitment, offset: offset, end: offset + total)
  }
}
