import FaultyFileSystem
import Foundation

@testable package import DataProtection

/// A store with three generations, one of them set aside, a frame, a pending one and a marker.
package struct FuzzStore: Sendable {
  package let device: FuzzDevice
  private let memory: MemoryFileSystem

  /// Makes it; the same in every run.
  package init() throws {
    device = try FuzzDevice()
    memory = MemoryFileSystem()
    let archives = try device.archives(on: memory)
    let one = try archives.publish(Data("one".utf8)).generation
    try archives.publish(Data("two".utf8), ArchiveSuccession(retiring: [one]))
    let three = try archives.publish(Data("three".utf8)).generation
    _ = try archives.append(Data("frame".utf8), to: three)
    try archives.publishPending(Data("pending".utf8))
    try archives.beginAttempt(at: archives.openNewest()).note(node: 3)
  }

  /// The bytes of a file.
  package func content(atPath path: String) -> [UInt8] { memory.content(atPath: path)! }

  /// The store in a new process, with one file changed: what is found was saved once, and saving goes on, or is refused for
  /// a reason.
  ///
  /// - Parameters:
  ///   - bytes: What the file has.
  ///   - path: The file.
  ///   - choice: What is done between opening and saving.
  ///   - check: Gets how the opened generation stands.
  package func use(_ bytes: [UInt8], atPath path: String, _ choice: UInt8, check: (ArchiveStanding) -> Void = { _ in })
  {
    let memory = memory.afterProcessDeath()
    memory.plant(bytes, atPath: path)
    guard let archives = try? device.archives(on: memory) else { preconditionFailure("the slot can't be had") }
    if let opened = try? archives.openNewest() {
      let content = try? opened.readAll()
      precondition(content == Data("one".utf8) || content == Data("two".utf8) || content == Data("three".utf8))
      check(opened.standing)
      _ = try? archives.attempts(at: opened)
      if let attempt = try? archives.beginAttempt(at: opened) {
        attempt.note(node: 7)
        attempt.end()
      }
      if choice % 4 == 0 { _ = try? archives.append(Data("frame".utf8), to: opened.generation) }
    }
    _ = try? archives.openPredecessor()
    for record in (try? archives.setAsideRecords()) ?? [] {
      _ = try? archives.openSetAside(Generation(rawValue: record.generation))
    }
    let pending = (try? archives.openPending().archives.map(\.generation)) ?? []
    switch choice % 4 {
    case 1: _ = try? archives.publishPending(Data("pending".utf8))
    case 2: try? archives.requireDurable()
    case 3: try? archives.deleteAll()
    default: break
    }
    let new = Data("new".utf8)
    guard (try? archives.publish(new, ArchiveSuccession(consuming: pending))) != nil else { return }
    archives.close()
    let found = try? device.archives(on: memory).openNewest()
    precondition((try? found?.readAll()) == new, "what was saved is not what is found")
    precondition(found?.standing == .current, "what was just saved is not known as the newest")
  }
}
