import Foundation
import Sealing
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// libcrypto belongs to the whole process: what the program does with it, and what we do.
@Suite struct LibraryContextTests {
  @Test func `a program that asks libcrypto for FIPS algorithms alone can seal and open`() async {
    await #expect(processExitsWith: .success) {
      try #require(Libcrypto.setDefaultProperties("fips=yes") == 1)
      try #require(!Libcrypto.hasDigest("SHA256"), "nothing is there for the program itself")
      try roundTrip()
    }
  }

  @Test func `the program's errors stay in its queue, and none of ours join them`() async {
    await #expect(processExitsWith: .success) {
      try roundTrip()
      try #require(Libcrypto.peekError() == 0)
      try #require(!Libcrypto.hasDigest("nonsense"))
      let error = Libcrypto.peekError()
      let last = Libcrypto.peekLastError()
      try #require(error != 0)
      try roundTrip()
      let key = try SecretKey(copying: [UInt8](repeating: 1, count: 32).span)
      var message = try ChunkedEncryption.seal(
        [1, 2, 3].span, key: key, context: [4].span, random: SystemRandom()
      ).bytes
      message[message.count - 1] ^= 1
      try #require(throws: SealingError.self) {
        try ChunkedEncryption.open(message.span, key: key, context: [4].span)
      }
      try #require(throws: SealingError.self) {
        _ = try KeyWrap.unwrapKey([UInt8](repeating: 3, count: 40).span, with: key)
      }
      try #require(throws: SealingError.self) {
        _ = try X25519.sharedSecret(key, with: [UInt8](repeating: 0, count: 32).span)
      }
      try #require(Libcrypto.peekError() == error && Libcrypto.peekLastError() == last)
    }
  }
}

/// Uses every algorithm.
private func roundTrip() throws {
  let key = try SecretKey(copying: [UInt8](repeating: 1, count: 32).span)
  let sealed = try ChunkedEncryption.seal([1, 2, 3].span, key: key, context: [4].span, random: SystemRandom())
  let opened = try ChunkedEncryption.open(sealed.bytes.span, key: key, context: [4].span)
  try #require(opened == [1, 2, 3])
  let wrapped = try KeyWrap.wrap(key, with: key)
  _ = try KeyWrap.unwrapKey(wrapped.span, with: key)
  let publicKey = try X25519.publicKey(of: key)
  _ = try X25519.sharedSecret(key, with: publicKey.span)
  _ = try Scrypt.derive(from: key, salt: [1].span, cost: Scrypt.Cost(work: 16, blockSize: 8, parallelism: 1))
}

/// libcrypto as the program itself would call it.
private enum Libcrypto {
  private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
    unsafe unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), name)!, to: type)
  }

  static func setDefaultProperties(_ text: String) -> Int32 {
    typealias Function = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> Int32
    return unsafe function("EVP_set_default_properties", as: Function.self)(nil, text)
  }

  static func hasDigest(_ name: String) -> Bool {
    typealias Function = @convention(c) (OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> OpaquePointer?
    return unsafe function("EVP_MD_fetch", as: Function.self)(nil, name, nil) != nil
  }

  static func peekError() -> UInt {
    function("ERR_peek_error", as: (@convention(c) () -> UInt).self)()
  }

  static func peekLastError() -> UInt {
    function("ERR_peek_last_error", as: (@convention(c) () -> UInt).self)()
  }
}
