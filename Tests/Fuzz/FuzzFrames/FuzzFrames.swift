import FaultyFileSystem
import FileSystem
import Foundation
import FuzzSupport

@testable import DataProtection

/// Generations of a store whose bytes were changed, in the base and in the frames behind it.
@c(LLVMFuzzerTestOneInput)
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 2) else { return 0 }
  openChanged(Array(input[1...]), isInFrames: input[0] & 1 == 0)
  return 0
}

/// Opens a changed generation: frames are those that were appended, in their places, or refused; and saving goes on.
private func openChanged(_ changes: [UInt8], isInFrames: Bool) {
  let memory = store.afterProcessDeath()
  let bytes = memory.content(atPath: path)!
  let changed =
    isInFrames ? Array(bytes[..<base]) + Array(bytes[base...]).edited(by: changes) : bytes.edited(by: changes)
  memory.plant(changed, atPath: path)
  guard let archives = try? device.archives(on: memory) else { preconditionFailure("the slot can't be had") }
  if let opened = try? archives.openNewest() {
    precondition(
      opened.frames.count <= frames.count && frames.starts(with: opened.frames), "a frame is not the one appended")
    // The chunks of a long base are checked when they are read.
    let whole = try? opened.readAll()
    if let whole { precondition(whole == content, "a changed base was read") }
    let isClean = whole != nil && opened.tailDropped == 0 && opened.frames.count == frames.count
    precondition(
      !isClean || changed.prefix(bytes.count).starts(with: bytes[..<opened.scan.end]), "a change was not noticed")
    try? archives.open()
    if let again = try? archives.openNewest(),
      let receipt = try? archives.append(Data("new".utf8), to: again.generation), receipt.durability == .durable
    {
      let found = try? device.archives(on: memory).openNewest()
      precondition(found?.frames == again.frames + [Data("new".utf8)], "an appended frame is not found")
    }
  } else {
    precondition(!isInFrames, "damaged frames keep their base from being opened")
  }
  archives.close()
  let new = Data("whole".utf8)
  guard let next = try? device.archives(on: memory), (try? next.publish(new)) != nil else {
    preconditionFailure("a damaged generation stops saving")
  }
  precondition((try? next.openNewest().readAll()) == new)
}

private let device = try! FuzzDevice()
/// Longer than what counts as a small base, so that the room for frames depends on it.
private let content = Data((0..<66_001).map { UInt8(truncatingIfNeeded: $0 % 251) })
private let (store, frames) = makeStore()
private let path = try! device.path("g-1")

/// A generation with twenty-four frames, and others that fill the room behind them to its end.
private func makeStore() -> (MemoryFileSystem, [Data]) {
  let memory = MemoryFileSystem()
  let archives = try! device.archives(on: memory)
  let generation = try! archives.publish(content).generation
  var frames = (0..<24).map { Data(repeating: UInt8($0), count: $0 == 20 ? 3000 : 1 + $0 * 3) }
  for frame in frames { _ = try! archives.append(frame, to: generation) }
  var count = 12_000
  while count >= 0 {
    let filling = Data(repeating: 0xAA, count: count)
    if try! archives.append(filling, to: generation) != nil {
      frames.append(filling)
      count = min(count, 200)
    } else {
      count -= count > 1_000 ? 97 : 1
    }
  }
  return (memory.afterProcessDeath(), frames)
}

/// Where the base ends.
private let base = try! device.archives(on: store.afterProcessDeath()).openNewest().content.endOffset
