import FaultyFileSystem
import FileSystem
import Foundation
import FuzzSupport

@testable import DataProtection

/// Reads any bytes as the frames of a journal, and journals of a store that were changed.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzJournal(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  let rest = Array(input[1...])
  switch input[0] % 4 {
  case 0: readFrames(rest)
  case 1: readFrames(toyJournal.edited(by: rest))
  default: openChanged(rest, checksAll: input[0] & 1 == 0, choice: input[0] >> 2)
  }
  return 0
}

/// Finds and reads frames from the end, from the start, and each alone.
private func readFrames(_ bytes: [UInt8]) {
  let memory = MemoryFileSystem()
  memory.plant(bytes, atPath: "/journal")
  guard let root = try? memory.openDirectory(atPath: "/"),
    let descriptor = try? memory.openFile("journal", in: root, [])
  else { return }
  let file = StoreFile(memory, descriptor, byteCount: bytes.count)
  for checksAll in [false, true] {
    guard let reader = try? JournalReader(file, ToyOpener(), index: 0, start: 0, checksAll: checksAll) else { continue }
    precondition(reader.end.offset <= bytes.count, "a journal ends behind its file")
    for number in 0..<min(reader.end.frameCount, 64) { _ = try? reader.frame(number) }
    _ = try? reader.cut(to: reader.end.frameCount / 2)
    if checksAll { precondition((try? reader.readFrames()) != nil, "checked frames can't be read again") }
  }
}

/// Opens a store whose journals were changed: frames are those that were appended, in their places, or refused.
private func openChanged(_ changes: [UInt8], checksAll: Bool, choice: UInt8) {
  let memory = store.afterProcessDeath()
  let path = journals[Int(choice) % journals.count]
  memory.plant(memory.content(atPath: path)!.edited(by: changes), atPath: path)
  guard let archives = try? device.archives(on: memory),
    let opened = try? archives.openNewest(checkingFrames: checksAll)
  else { preconditionFailure("a damaged journal keeps its archive from being opened") }
  precondition((try? opened.readAll()) == content, "a damaged journal changes the archive")
  precondition(opened.frameCount <= frames.count, "there are more frames than were appended")
  for index in 0..<opened.frameCount {
    guard let frame = try? opened.frame(at: index) else {
      precondition(!checksAll, "a frame that was checked can't be read")
      continue
    }
    precondition(frame == frames[index], "a frame was read that is not the one appended there")
  }
  if checksAll { precondition((try? opened.frames)?.count == opened.frameCount) }
  let new = Data("new".utf8)
  guard let receipt = try? archives.append(new), receipt.durability == .durable else { return }
  guard let again = try? device.archives(on: memory).openNewest() else { preconditionFailure("a saved frame is lost") }
  precondition(again.frameCount == opened.frameCount + 1, "an appended frame is not the last one")
  precondition((try? again.frame(at: again.frameCount - 1)) == new, "an appended frame is not found")
}

// MARK: What is valid

private let device = try! FuzzDevice()
private let content = Data("content".utf8)
private let frames = (0..<24).map { Data(repeating: UInt8($0), count: $0 == 20 ? 5000 : 1 + $0 * 3) }

/// A generation with two journals of twelve frames.
private let store: MemoryFileSystem = {
  let memory = MemoryFileSystem()
  var archives = try! device.archives(on: memory)
  try! archives.publish(content)
  for frame in frames[..<12] { try! archives.append(frame) }
  archives = try! device.archives(on: memory)
  _ = try! archives.openNewest()
  for frame in frames[12...] { try! archives.append(frame) }
  return memory
}()

private let journals = store.names(atPath: FuzzDevice.path).filter { $0.hasSuffix(".journal") }
  .map { "\(FuzzDevice.path)/\($0)" }

/// Frames that the toy opener takes.
private let toyJournal: [UInt8] = {
  var bytes: [UInt8] = []
  var offsets: [Int] = []
  for number in 0..<20 as Range<UInt64> {
    let skip = JournalFrames.skipTarget(ofNumberFromOne: number + 1)
    let message = [UInt8](repeating: UInt8(number), count: 1 + Int(number) * 2)
    offsets.append(bytes.count)
    bytes += JournalFrames.encoded(message, number: number, skip: skip == 0 ? 0 : offsets[Int(skip) - 1])
  }
  return bytes + [UInt8](repeating: 0, count: 200)
}()

/// Opens what begins with its own number, so that the fuzzer need not forge a code.
private struct ToyOpener: JournalOpening {
  var fields: SealedFields {
    SealedFields(
      kind: .journal, protection: .none, identity: [], generation: 1, schema: 0, flags: 0,
      identifier: [UInt8](repeating: 0, count: 16))
  }
  var messagePrefixByteCount: Int { 1 }

  func claimedCommitment(of prefix: ArraySlice<UInt8>) -> [UInt8]? { prefix.first.map { [$0] } }

  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    guard let first = message.first, first == UInt8(truncatingIfNeeded: number) else {
      throw ProtectionError(.corrupt, "Not that frame.")
    }
    return (Data(message), [first])
  }
}
