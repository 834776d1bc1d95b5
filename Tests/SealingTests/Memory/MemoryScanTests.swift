import Foundation
import OwnThread
import ProcessMemory
import TestTraits
import Testing

@testable import Sealing

/// Another process (this one) reads all the memory of one that works with keys.
@Suite(.serialized, .notUnderAddressSanitizer("it copies all memory")) struct MemoryScanTests {
  /// What is looked for, in the order in which the working process tells of it.
  private static let names = [
    "class key", "file key", "passcode", "stretched passcode", "wrapping key", "shared secret", "message key",
  ]

  @Test func `a core dump of a working process holds no key, and after the wipe no memory does`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "scan-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipes = try ["working", "scanned", "wiped", "done"].map { try Rendezvous("\(folder)/\($0)").make() }

    let reader = OwnThread { () throws -> (all: [String], dumped: [String], left: [String]) in
      guard Rendezvous(folder + "/working").wait() else { throw CocoaError(.fileReadUnknown) }
      let process = try String(contentsOfFile: folder + "/process", encoding: .utf8)
      let disguised = try Data(contentsOf: URL(filePath: folder + "/disguised"))
      var needles: [String: [UInt8]] = [:]
      for (index, name) in Self.names.enumerated() {
        needles[name] = disguised[index * 32..<index * 32 + 32].map { $0 ^ 0x5A }
      }
      let all = try MemoryMap(process: process).occurrences(of: needles, onlyDumped: false)
      let dumped = try MemoryMap(process: process).occurrences(of: needles, onlyDumped: true)
      Rendezvous(folder + "/scanned").tell()
      guard Rendezvous(folder + "/wiped").wait() else { throw CocoaError(.fileReadUnknown) }
      let left = try MemoryMap(process: process).occurrences(of: needles, onlyDumped: false)
      Rendezvous(folder + "/done").tell()
      return (all, dumped, left)
    }
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      let opener = try workWithKeys { disguised in
        try Data(disguised).write(to: URL(filePath: folder + "/disguised"))
        try Data("\(getpid())".utf8).write(to: URL(filePath: folder + "/process"))
        Rendezvous(folder + "/working").tell()
        precondition(Rendezvous(folder + "/scanned").wait())
      }
      opener.wipe()
      CryptographicContexts.freeAll()
      Rendezvous(folder + "/wiped").tell()
      precondition(Rendezvous(folder + "/done").wait())
    }
    let found = try await reader.value
    // Without this the scan could be blind.
    for name in Self.names { #expect(found.all.contains("\(name) in anonymous memory")) }
    #expect(found.dumped == [])
    #expect(found.left == [])
    withExtendedLifetime(pipes) {}
  }
}

/// Does with keys what a device does, calls back while it has them, then lets them go.
///
/// Keys are drawn into the arena and told in disguise, so that nothing but the arena should ever hold them.
private func workWithKeys(_ whileWorking: ([UInt8]) throws -> Void) throws -> ChunkedOpener {
  var disguised: [UInt8] = []
  let number: [UInt8] = [1]
  func tell(_ key: borrowing some Secret & ~Copyable) throws {
    try key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      for index in bytes.indices { disguised.append(bytes[index] ^ 0x5A) }
    }
  }
  let classKey = try SecretKey(from: SystemRandom())
  let fileKey = try HKDF.expand(classKey, info: number.span)
  let passcode = try SecretKey(from: SystemRandom())
  let salt = try SecretBytes(joining: classKey, fileKey)
  let stretched = try Scrypt.derive(
    from: passcode, salt: number.span, cost: Scrypt.Cost(work: 1024, blockSize: 8, parallelism: 1))
  let wrappingKey = try HKDF.extract(salt: salt, inputKey: stretched)
  let wrapped = try KeyWrap.wrap(fileKey, with: wrappingKey)
  let unwrapped = try KeyWrap.unwrapKey(wrapped.span, with: wrappingKey)
  let publicKey = try X25519.publicKey(of: fileKey)
  let agreed = try X25519.sharedSecret(classKey, with: publicKey.span)
  _ = try HMACSHA256.authenticationCode(for: number.span, key: classKey)

  let state = [UInt8](repeating: 4, count: 40_000)
  let sealed = try ChunkedEncryption.seal(state.span, key: unwrapped, context: number.span, random: SystemRandom())
    .bytes
  let prefix = Array(sealed.prefix(56))
  let messageSalt = Array(sealed.prefix(24))
  let opener = try ChunkedOpener(
    prefix: prefix.span, messageByteCount: sealed.count, key: unwrapped, context: number.span)
  for chunk in 0..<opener.chunkCount {
    let part = Array(sealed[opener.messageRange(ofChunks: chunk..<chunk + 1)])
    _ = try opener.openChunk(chunk, of: part.span)
  }
  let label = Array("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0".utf8)
  let messageKey = try unsafe SecretKey { (target) throws(SealingError) in
    try unsafe HKDF.expand(
      unwrapped, label.span, messageSalt.span, number.span, contexts: HKDF.sha512Contexts, into: target)
  }
  try tell(classKey)
  try tell(fileKey)
  try tell(passcode)
  try tell(stretched)
  try tell(wrappingKey)
  try tell(agreed)
  try tell(messageKey)
  try whileWorking(disguised)
  try tell(unwrapped)
  return opener
}
