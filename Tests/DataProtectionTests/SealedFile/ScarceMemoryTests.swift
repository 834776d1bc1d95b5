#if canImport(Glibc)
import FoundationEssentials
import Glibc
import Sealing
import Testing

@testable import DataProtection

/// libcrypto gets no memory: that says nothing about what is opened.
@Suite struct ScarceMemoryTests {
  @Test func `a failed allocation of libcrypto is never taken for damage`() async {
    await #expect(processExitsWith: .success) {
      try #require(ScarceMemory.install())
      let keys = try TestClassKeys()
      let rig = FileSealer(keys: keys)
      let identity = [UInt8](repeating: 1, count: 32)
      let text = Data(repeating: 7, count: 40_000)
      for protection in [ProtectionClass.complete, .completeUnlessOpen] {
        let sealed = try rig.seal(
          text,
          SealedFields(
            kind: .archive, protection: protection, identity: identity, generation: 1))
        let (message, next) = try sealed.frames.seal(text, number: 1, previous: sealed.commitment)
        let bytes = [UInt8](sealed.bytes)
        func open() throws(ProtectionError) {
          let content = try rig.open(
            BytesSource(bytes), protection: protection, identity: identity, generation: 1)
          _ = try content.read(0..<text.count)
          _ = try content.frames.open(message[...], number: 1, previous: sealed.commitment)
        }
        // Everything that is looked up once is looked up.
        try open()
        var failures = 0
        var isDone = false
        while !isDone {
          CryptographicContexts.freeAll()
          let code = ScarceMemory.afterAllocations(failures) { protectionCode(open) }
          isDone = code == nil
          try #require(isDone || code == .secretsUnavailable, "allocation \(failures): \(String(describing: code))")
          failures += 1
        }
        try #require(failures > 5 && next.count == 32)
      }
    }
  }
}

/// Memory of libcrypto that runs out when a test says so; for a process of its own.
private enum ScarceMemory {
  nonisolated(unsafe) static var allowance = Int.max

  typealias Allocate = @convention(c) (Int, UnsafePointer<CChar>?, Int32) -> UnsafeMutableRawPointer?
  typealias Reallocate =
    @convention(c) (UnsafeMutableRawPointer?, Int, UnsafePointer<CChar>?, Int32) -> UnsafeMutableRawPointer?
  typealias Free = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int32) -> Void

  /// Whether libcrypto takes its memory from here; it can't once it has allocated any.
  static func install() -> Bool {
    guard let symbol = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: 0), "CRYPTO_set_mem_functions") else {
      return false
    }
    let set = unsafe unsafeBitCast(symbol, to: (@convention(c) (Allocate, Reallocate, Free) -> Int32).self)
    return unsafe set(
      { count, _, _ in unsafe ScarceMemory.isLeft() ? malloc(count) : nil },
      { old, count, _, _ in unsafe ScarceMemory.isLeft() ? realloc(old, count) : nil },
      { old, _, _ in unsafe free(old) }) == 1
  }

  private static func isLeft() -> Bool {
    unsafe allowance -= 1
    return unsafe allowance >= 0
  }

  /// Runs a body in which so many allocations succeed, and no more.
  static func afterAllocations<R>(_ count: Int, _ body: () -> R) -> R {
    unsafe allowance = count
    defer { unsafe allowance = Int.max }
    return body()
  }
}
#endif
