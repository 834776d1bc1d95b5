import FaultyFileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// No byte of the state is on the disk in the clear, at any step of anything.
@Suite struct PlaintextTests {
  @Test func `no file holds plaintext, a name or a passcode at any step`() async throws {
    let world = TestWorld()
    let faulty = FaultyFileSystem(world.memory)
    let needles = ["MARKER-content", "MARKER-frame", "MARKER-name", "MARKER-application", "MARKER-passcode"]
      .map { Array($0.utf8) }
    let found = Log<String>()
    let looked = Mutex<[[UInt8]]>([])
    let memory = world.memory
    faulty.onCall { number, operation in
      let all = memory.allContents
      // What has not changed shares its memory with what was looked through before, and is found equal at once.
      let known = looked.withLock { known in
        defer { known = all }
        return known
      }
      for content in all where !known.contains(content) {
        for needle in needles where content.contains(needle) {
          found.append("\(String(decoding: needle, as: UTF8.self)) before call \(number), \(operation)")
        }
      }
    }
    let content = Data("MARKER-content".utf8) + Data(repeating: 1, count: 20_000) + Data("MARKER-content".utf8)
    let device = try await world.open(through: faulty)
    let archives = try device.archives(for: ArchiveSlot(application: "MARKER-application"))
    archives.keepState()
    let first = try archives.publish(content)
    try archives.append(Data("MARKER-frame".utf8), to: first.generation)
    let files = try device.files(in: "MARKER-name")
    for protection in ProtectionClass.allCases {
      try files.create("MARKER-name \(protection)", contents: content, protection: protection).close()
    }
    try await device.setPasscode(ProtectedDevice.Passcode("MARKER-passcode"))
    try archives.publishPending(content)
    let pending = try archives.openPending()
    try archives.publish(content, ArchiveSuccession(consuming: pending.archives.map(\.generation)))
    try files.setProtection(.none, of: "MARKER-name complete")
    try files.rename("MARKER-name none", to: "MARKER-name again")
    try await device.changePasscode(
      from: ProtectedDevice.Passcode("MARKER-passcode"), to: ProtectedDevice.Passcode("MARKER-passcode 2"))
    let attempt = try archives.beginAttempt(at: archives.openNewest())
    attempt.note(node: 3)
    attempt.end()
    try await device.removePasscode(ProtectedDevice.Passcode("MARKER-passcode 2"))
    faulty.onCall(nil)
    #expect(found.all == [])
    // The search finds what is there.
    memory.plant(Array("xxMARKER-frame".utf8), atPath: "/planted")
    #expect(memory.allContents.contains { $0.contains(needles[1]) })
    #expect(faulty.callCount > 300)
  }
}

extension [UInt8] {
  /// Whether these bytes occur in a row.
  fileprivate func contains(_ needle: [UInt8]) -> Bool {
    // The library's searches: this looks through every file at every call.
    unsafe withUnsafeBytes { bytes in
      unsafe needle.withUnsafeBytes { needle in
        var rest = unsafe bytes[...]
        while unsafe rest.count >= needle.count {
          let start = unsafe UnsafeRawBufferPointer(rebasing: rest)
          let places = unsafe rest.count - needle.count + 1
          guard let hit = unsafe memchr(start.baseAddress!, Int32(needle[0]), places) else { break }
          if unsafe memcmp(hit, needle.baseAddress!, needle.count) == 0 { return true }
          unsafe rest = rest.dropFirst(UnsafeRawPointer(hit) - start.baseAddress! + 1)
        }
        return false
      }
    }
  }
}
