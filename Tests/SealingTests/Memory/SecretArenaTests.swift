import CSystem
import CTestProcess
import Foundation
import ProcessMemory
import Sealing
import Synchronization
import TestTraits
import Testing

struct SecretArenaTests {
  /// A system whose calls fail as chosen.
  private func system(lockFails: Bool = false, failing: [Int32] = []) -> MemorySystem {
    unsafe MemorySystem(
      lock: { start, count in lockFails ? -1 : unsafe MemorySystem.linux.lock(start, count) },
      advise: { start, count, advice in
        failing.contains(advice) ? -1 : unsafe MemorySystem.linux.advise(start, count, advice)
      })
  }

  @Test func `secrets of every size come back as they went in`() throws {
    let arena = SecretArena()
    for count in [0, 1, 31, 32, 33, 100, 5000, 16352, 16353, 100_000, SecretArena.maximumByteCount] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let secret = try SecretBytes(copying: bytes.span, in: arena)
      #expect(secret.byteCount == count)
      #expect(try secret.revealed() == bytes)
    }
    let code = codeThrown {
      _ = try SecretBytes(copying: [UInt8](repeating: 0, count: SecretArena.maximumByteCount + 1).span, in: arena)
    }
    #expect(code == .invalidLength)
  }

  @Test func `many secrets live side by side, and their room is used again`() throws {
    let arena = SecretArena()
    final class Held {
      let secret: SecretBytes
      init(_ bytes: [UInt8], _ arena: SecretArena) throws { secret = try SecretBytes(copying: bytes.span, in: arena) }
    }
    for _ in 0..<5 {
      var held: [(Held, [UInt8])] = []
      for number in 0..<2000 {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 97)
        held.append((try Held(bytes, arena), bytes))
        if number % 3 == 0 { held.remove(at: held.count / 2) }
      }
      for (secret, bytes) in held { #expect(try secret.secret.revealed() == bytes) }
    }
  }

  @Test func `a large secret's memory goes with it and takes no small one along`() throws {
    let arena = SecretArena()
    let large = try SecretBytes(copying: [UInt8](repeating: 1, count: 50_000).span, in: arena)
    let small = try SecretBytes(copying: [UInt8](repeating: 2, count: 40).span, in: arena)
    _ = consume large
    let other = try SecretBytes(copying: [UInt8](repeating: 3, count: 50_000).span, in: arena)
    #expect(try small.revealed() == [UInt8](repeating: 2, count: 40))
    #expect(try other.revealed() == [UInt8](repeating: 3, count: 50_000))
  }

  @Test func `new room is zero, whatever was there`() throws {
    let arena = SecretArena()
    for _ in 0..<100 {
      let secret = try unsafe SecretBytes(byteCount: 64, in: arena) { (target) throws(SealingError) in
        let isZero = unsafe target.allSatisfy { $0 == 0 }
        guard isZero else { throw SealingError(.libraryFailure, "The room is not zero.") }
        unsafe target.initializeMemory(as: UInt8.self, repeating: 0xAA)
      }
      #expect(secret.byteCount == 64)
    }
  }

  @Test(.notUnderAddressSanitizer("the sanitizer turns the locking of memory off"))
  func `the memory is locked, left out of dumps and wiped in forks`() throws {
    let arena = SecretArena()
    let key = try SecretKey(from: SystemRandom(), in: arena)
    let address = try key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) }
    }
    let flags = try #require(MemoryMap.own().flags(at: address))
    #expect(flags.contains("dd"), "MADV_DONTDUMP")
    #expect(flags.contains("wf"), "MADV_WIPEONFORK")
    if !arena.standing.secretsMayBeSwapped { #expect(flags.contains("lo"), "mlock") }
  }

  @Test func `a failed mlock is survived and visible`() throws {
    let arena = SecretArena(system: system(lockFails: true))
    #expect(!arena.standing.secretsMayBeSwapped)
    let key = try SecretKey(copying: [UInt8](repeating: 5, count: 32).span, in: arena)
    #expect(arena.standing.secretsMayBeSwapped)
    #expect(!arena.standing.secretsMayBeDumped)
    #expect(try key.revealed() == [UInt8](repeating: 5, count: 32))
  }

  @Test func `failed advice is survived and visible`() throws {
    let dumped = SecretArena(system: system(failing: [Int32(MADV_DONTDUMP)]))
    _ = try SecretKey(from: SystemRandom(), in: dumped)
    #expect(dumped.standing.secretsMayBeDumped)
    let forked = SecretArena(system: system(failing: [Int32(MADV_WIPEONFORK)]))
    _ = try SecretKey(from: SystemRandom(), in: forked)
    #expect(forked.standing.forksAreNoticedByIdentifier)
    _ = try SecretKey(from: SystemRandom(), in: forked)
  }

  @Test(.notUnderAddressSanitizer("the sanitizer turns the locking of memory off"))
  func `a real limit on locked memory is survived and visible`() async {
    await #expect(processExitsWith: .success) {
      // Root may lock in spite of the limit, so be nobody first.
      if getuid() == 0 { precondition(setuid(65534) == 0) }
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      precondition(unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0)
      let key = try SecretKey(copying: [UInt8](repeating: 5, count: 32).span)
      let sealed = try ChunkedEncryption.seal([1, 2].span, key: key, context: [3].span, random: SystemRandom())
      let opened = try ChunkedEncryption.open(sealed.bytes.span, key: key, context: [3].span)
      precondition(opened == [1, 2])
      precondition(SecretArena.shared.standing.secretsMayBeSwapped)
    }
  }

  @Test(arguments: [true, false]) func `a forked child can't seal, open or make keys`(wipesOnFork: Bool) async {
    await #expect(processExitsWith: .success) { [wipesOnFork = wipesOnFork as Bool] in
      let arena = SecretArena(
        system: unsafe MemorySystem(
          lock: MemorySystem.linux.lock,
          advise: { start, count, advice in
            let isRefused = !wipesOnFork && advice == Int32(MADV_WIPEONFORK)
            return isRefused ? -1 : unsafe MemorySystem.linux.advise(start, count, advice)
          }))
      let key = try SecretKey(from: SystemRandom(), in: arena)
      let sealed = try ChunkedEncryption.seal([1, 2].span, key: key, context: [3].span, random: SystemRandom())
      let prefix = Array(sealed.bytes.prefix(56))
      let opener = try ChunkedOpener(
        prefix: prefix.span, messageByteCount: sealed.bytes.count, key: key, context: [3].span)
      let child = test_process_fork()
      if child == 0 {
        // Nothing but the calls that must fail, and an exit code that says which one didn't.
        let attempts: [() throws -> Void] = [
          { _ = try ChunkedEncryption.seal([1].span, key: key, context: [3].span, random: SystemRandom()) },
          { _ = try ChunkedEncryption.open(sealed.bytes.span, key: key, context: [3].span) },
          { _ = try HMACSHA256.authenticationCode(for: [1].span, key: key) },
          { _ = try SecretKey(from: SystemRandom(), in: arena) },
          { _ = try X25519.publicKey(of: key) },
        ]
        for (number, attempt) in attempts.enumerated() where codeThrown(by: attempt) != .secretsLost {
          _exit(Int32(number) + 1)
        }
        // The opener's keys are in the shared arena, which the kernel wipes whatever the other one does.
        let code = codeThrown { _ = try opener.openChunk(0, of: Array(sealed.bytes.dropFirst(56)).span) }
        _exit(code == .secretsLost ? 0 : 50)
      }
      let status = test_process_end(child)
      precondition(status == 0, "The child could do number \(status >> 8).")
      // The parent goes on as before.
      let opened = try ChunkedEncryption.open(sealed.bytes.span, key: key, context: [3].span)
      precondition(opened == [1, 2])
    }
  }
}
