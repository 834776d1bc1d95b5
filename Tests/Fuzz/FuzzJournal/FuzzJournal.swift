import FaultyFileSystem
import FileSystem
import Foundation

@testable import DataProtection

/// Reads any bytes as the frames of a journal: from the end, from the start, and each frame alone.
@c(LLVMFuzzerTestOneInput)
public func fuzzJournal(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 0 else { return 0 }
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  let memory = MemoryFileSystem()
  memory.plant(bytes, atPath: "/journal")
  guard let root = try? memory.openDirectory(atPath: "/"),
    let descriptor = try? memory.openFile("journal", in: root, [])
  else { return 0 }
  let file = StoreFile(memory, descriptor, byteCount: bytes.count)
  for checksAll in [false, true] {
    guard let reader = try? JournalReader(file, Opener(), index: 0, start: 0, checksAll: checksAll) else { continue }
    precondition(reader.end.offset <= bytes.count, "a journal ends behind its file")
    for number in 0..<min(reader.end.frameCount, 64) { _ = try? reader.frame(number) }
    _ = try? reader.cut(to: reader.end.frameCount / 2)
    if checksAll { precondition((try? reader.readFrames()) != nil, "checked frames can't be read again") }
  }
  return 0
}

/// Opens what begins with its own number, so that the fuzzer need not forge a code.
private struct Opener: JournalOpening {
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
