import FileSystem
import Foundation
import ProcessMemory
import Sealing
import Testing

@testable import DataProtection

/// The memory of a process that has read, changed and saved a part of a stronger class, once the device is locked.
@Suite(.serialized) struct PartedMemoryTests {
  /// What the process did last before the lock.
  enum Last: String, Codable, Sendable, CaseIterable {
    case read, append, publish, sealOneWay
  }

  @Test(arguments: Last.allCases)
  func `a lock leaves nothing of a stronger part in memory, and no key of its class`(last: Last) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [last = last as Last] in
      let trial = try await PartedTrial()
      defer { trial.remove() }
      let found = try await trial.lock(after: last)
      guard !found.isEmpty else { return }
      FileHandle.standardError.write(Data("\(last): \(found)\n".utf8))
      exit(EXIT_FAILURE)
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == "")
  }
}

/// A device on a real disk with a state of two classes, and what to look for in memory.
private struct PartedTrial {
  private static let mask: UInt8 = 0x5a
  private static let place = PartPlace.allCases[1]

  private let custody = DaemonCustody()
  private let device: ProtectedDevice
  private let folder: String
  /// Disguised, so that the test itself never holds what is looked for.
  private let secrets: [String: [UInt8]]

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "parts-\(UUID().uuidString)").path()
    secrets = Dictionary(
      uniqueKeysWithValues: ["content", "frame", "further frame", "new content", "locked content"].map { name in
        (name, (0..<48).map { _ in UInt8.random(in: .min ... .max) })
      })
    var options = ProtectedDevice.Options()
    options.custody = custody
    options.gracePeriod = .zero
    device = try await ProtectedDevice.open(
      at: .directory(folder), options: options,
      environment: DeviceEnvironment(fileSystem: LinuxFileSystem(), scrypt: .test))
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  /// A secret in memory that is wiped when it goes, at the end of so many other bytes.
  private func secret(_ name: String, behind count: Int = 0) -> Data {
    let bytes = secrets[name]!
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count + bytes.count, alignment: 16)
    for index in 0..<count { unsafe memory[index] = UInt8(truncatingIfNeeded: index) }
    for index in bytes.indices { unsafe memory[count + index] = bytes[index] ^ Self.mask }
    return unsafe Data(
      bytesNoCopy: memory.baseAddress!, count: memory.count,
      deallocator: .custom { start, count in
        unsafe memset(start, 0, count)
        unsafe start.deallocate()
      })
  }

  /// Saves, reads, changes, and locks; returns what of it is in memory then.
  func lock(after last: PartedMemoryTests.Last) async throws -> [String] {
    var needles = secrets
    for (protection, key) in custody.maskedByClass where protection != .completeUntilFirstUserAuthentication {
      needles["\(protection)"] = key
    }
    #expect(needles.count > secrets.count)
    let store = try device.archives(
      for: ArchiveSlot(application: "parts"), protection: .completeUntilFirstUserAuthentication)
    store.keepState()
    // Longer than a chunk: it is read in pieces.
    try store.publish([
      PartToPublish(.root, .new(Data("open".utf8), as: .completeUntilFirstUserAuthentication)),
      PartToPublish(Self.place, .new(secret("content", behind: 70_000), as: .complete)),
    ])
    var opened = try store.openNewestParts()
    try store.append(secret("frame"), to: opened.generation, at: Self.place, as: .complete)
    opened = try store.openNewestParts()
    var content = try opened[Self.place]?.archive?.readAll()
    guard content?.count == 70_048, opened[Self.place]?.archive?.frames.count == 1 else { return ["nothing was read"] }
    switch last {
    case .read, .sealOneWay: break
    case .append: try store.append(secret("further frame"), to: opened.generation, at: Self.place, as: .complete)
    case .publish:
      try store.publish([
        PartToPublish(.root, .unchanged(opened.parts[0].file)),
        PartToPublish(Self.place, .new(secret("new content"), as: .complete)),
      ])
    }
    drop(&opened, &content)
    device.lock()
    if last == .sealOneWay {
      let root = try store.openNewestParts().parts[0].file
      try store.publish([
        PartToPublish(.root, .unchanged(root)),
        PartToPublish(Self.place, .new(secret("locked content"), as: .complete)),
      ])
    }
    guard device.lockState == .locked else { return ["the device is not locked"] }
    return try MemoryMap.own().counts(ofDisguised: needles, mask: Self.mask, onlyDumped: false)
      .filter { $0.value > 0 }.keys.sorted()
  }

  /// Forgets what a program has read: that is its own to forget.
  @inline(never) private func drop(_ opened: inout OpenedGeneration, _ content: inout Data?) {
    content = nil
    opened = OpenedGeneration(generation: opened.generation, standing: .current, parts: [], commitment: [])
  }
}
