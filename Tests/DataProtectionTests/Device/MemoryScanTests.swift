#if canImport(Glibc)
import DataProtection
import FoundationEssentials
import Glibc
import Testing

/// Looks through all of the process's memory for keys and passcodes.
@Suite(.serialized) struct MemoryScanTests {
  @Test func `after a lock no wiped key and no passcode is anywhere in memory`() async throws {
    var world = TestWorld()
    let custody = DaemonCustody()
    world.options.custody = custody
    world.options.gracePeriod = .zero
    let device = try await world.open()
    // Long and random, and never whole in memory but in the arena: the test keeps it masked.
    let masked = (0..<48).map { _ in UInt8.random(in: .min ... .max) }
    func passcode() throws -> Passcode {
      try unsafe Passcode(byteCount: masked.count) { target in
        for index in masked.indices { unsafe target[index] = masked[index] ^ 0x5a }
      }
    }
    try await device.setPasscode(passcode())
    let files = try device.files()
    let handle = try files.create("x", contents: Data(repeating: 1, count: 100_000), protection: .complete)
    #expect(try handle.read(0..<1) == Data([1]))
    let keys = custody.takeMasked()
    #expect(keys.count == 3)

    // The scan must be able to find what is there, or it proves nothing.
    #expect(try Self.find(keys) == [true, true, true])
    device.reboot()
    #expect(try Self.find(keys + [masked]) == [false, false, false, false])
    try await device.unlock(passcode: passcode())
    device.lock()
    let after = custody.takeMasked()
    #expect(after.count == 1, "Only the class that outlives a lock is still in custody.")
    let gone = keys.filter { !after.contains($0) }
    #expect(gone.count == 2)
    #expect(try Self.find(gone + [masked]) == [false, false, false])
  }

  /// Whether each needle, given masked, is in any readable and writable mapping.
  static func find(_ masked: [[UInt8]]) throws -> [Bool] {
    let maps = try mappings()
    let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    var found = masked.map { _ in false }
    // One buffer, unmasked for no longer than its scan, which compares masked bytes.
    let size = 1 << 20
    let overlap = 64
    // A mapping of its own, so that leaving it out leaves nothing else out.
    let mapping = unsafe mmap(nil, size + overlap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let start = try unsafe #require(mapping)
    unsafe madvise(start, size + overlap, MADV_DONTFORK)
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: start, count: size + overlap)
    defer { unsafe munmap(start, size + overlap) }
    let own = UInt(bitPattern: start)
    for line in maps.split(separator: "\n") {
      let parts = line.split(separator: " ")
      let ends = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard parts[1].hasPrefix("rw"), ends.count == 2, ends[1] - ends[0] < 1 << 30 else { continue }
      // The mapping of the buffer itself holds what was read from elsewhere.
      guard !(ends[0]..<ends[1]).contains(own) else { continue }
      var position = ends[0]
      while position < ends[1] {
        let wanted = min(UInt(size + overlap), ends[1] - position)
        let count = unsafe pread(memory, buffer.baseAddress!, Int(wanted), off_t(position))
        guard count > 0 else { break }
        for index in masked.indices where !found[index] {
          found[index] = unsafe contains(UnsafeRawBufferPointer(rebasing: buffer[..<count]), masked[index])
        }
        unsafe memset(buffer.baseAddress!, 0, size + overlap)
        position += UInt(size)
      }
    }
    return found
  }

  /// The kernel's table of mappings; it comes in parts, and its file has no length.
  private static func mappings() throws -> String {
    let file = unsafe open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe part.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress!, $0.count) }
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += part.prefix(count)
    }
  }

  private static func contains(_ bytes: UnsafeRawBufferPointer, _ masked: [UInt8]) -> Bool {
    guard bytes.count >= masked.count else { return false }
    let first = Int32(masked[0] ^ 0x5a)
    var start = 0
    while start <= bytes.count - masked.count,
      let hit = unsafe memchr(bytes.baseAddress! + start, first, bytes.count - masked.count - start + 1)
    {
      let offset = unsafe UnsafeRawPointer(hit) - bytes.baseAddress!
      if masked.indices.allSatisfy({ unsafe bytes[offset + $0] ^ 0x5a == masked[$0] }) { return true }
      start = offset + 1
    }
    return false
  }
}
#endif
