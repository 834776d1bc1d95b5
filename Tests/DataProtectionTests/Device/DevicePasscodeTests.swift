import DataProtection
import Foundation
import ProcessMemory
import TestTraits
import Testing

@Suite(.tags(.threads), .serialized) struct PasscodeTests {
  let world = TestWorld()

  @Test(arguments: ["1234", String(repeating: "long ", count: 20)])
  func `a passcode with zero bytes behind it is another one`(_ passcode: String) async throws {
    try await world.open().setPasscode(ProtectedDevice.Passcode(passcode))
    for count in [1, 2, 60] {
      let padded = passcode + String(repeating: "\0", count: count)
      #expect(try await !world.opens(padded), "\(count)")
    }
    #expect(try await world.opens(passcode))
    let device = try await world.open()
    try await device.changePasscode(
      from: ProtectedDevice.Passcode(passcode), to: ProtectedDevice.Passcode(passcode + "\0"))
    #expect(try await !world.opens(passcode))
    #expect(try await world.opens(passcode + "\0"))
  }

  @Test func `a passcode made of a string leaves no copy of its own`() async throws {
    await #expect(processExitsWith: .success) {
      let disguised = (0..<900).map { _ in UInt8.random(in: 97...122) ^ 0x80 }
      // Without its first bytes, which the allocator uses for itself in freed memory.
      let needle = Array(disguised.dropFirst(100))
      func count() throws -> Int { try MemoryMap.own().count(ofDisguised: needle, mask: 0x80) }
      let text = unsafe String(unsafeUninitializedCapacity: disguised.count) { target in
        for index in disguised.indices { unsafe target[index] = disguised[index] ^ 0x80 }
        return disguised.count
      }
      try #require(count() == 1)
      // The secret's own memory is left out of core dumps, and so of the count.
      let passcode = try ProtectedDevice.Passcode(text)
      try #require(count() == 1)
      _ = consume passcode
      try #require(count() == 1)
      // The count would see a copy that was let go without being wiped.
      _ = Array(text.utf8)
      try #require(count() == 2)
      withExtendedLifetime(text) {}
    }
  }
}
