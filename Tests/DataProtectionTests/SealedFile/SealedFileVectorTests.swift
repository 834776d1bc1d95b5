import Foundation
import Sealing
import Synchronization
import Testing

@testable import DataProtection

/// Whole files made by an independent implementation, `Tests/Fixtures/Vectors/make-vectors.py`.
struct SealedFileVectorTests {
  struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    var name, protection, keybag, classKeyIdentifier, classKey, noneKey, nameKey, application, scene, slot: String
    var identity, random, fileKey, plaintext, header, commitment, file: String
    var generation: UInt64
    var flags: UInt8

    var testDescription: String { name }

    var bytes: [UInt8] { [UInt8](hex: file) }
    var protectionClass: ProtectionClass { ProtectionClass.allCases.first { "\($0)" == protection }! }
    var kind: SealedFields.Kind { SealedFields.Kind.allCases.first { bytes.starts(with: $0.magic) }! }
    var fields: SealedFields {
      SealedFields(
        kind: kind, protection: protectionClass, identity: [UInt8](hex: identity), generation: generation,
        flags: .init(rawValue: flags),
        messageByteCount: bytes.count - SealedFileHeader.byteCount(for: protectionClass))
    }
    var keys: FixedClassKeys {
      FixedClassKeys(
        identifier: [UInt8](hex: classKeyIdentifier),
        classKeys: [ProtectionClass.none: [UInt8](hex: noneKey)].merging(
          [protectionClass: [UInt8](hex: classKey)], uniquingKeysWith: { $1 }))
    }
  }

  private struct File: Decodable { var files: [Vector] }

  static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let vectors: [Vector] = {
    let data = try! Data(contentsOf: tests.appending(path: "Fixtures/Vectors/vectors.json"))
    return try! JSONDecoder().decode(File.self, from: data).files
  }()

  @Test(arguments: vectors) func `a file sealed elsewhere opens here`(vector: Vector) throws {
    let source = BytesSource(vector.bytes)
    let file = try FileSealer(keys: vector.keys).open(
      source, kind: vector.kind, protection: vector.protectionClass, identity: [UInt8](hex: vector.identity),
      generation: vector.generation)
    #expect(try [UInt8](file.read(0..<file.byteCount)) == [UInt8](hex: vector.plaintext))
    #expect(file.fields == vector.fields)
    #expect(file.commitment == [UInt8](hex: vector.commitment))
  }

  @Test(arguments: vectors) func `with the same random bytes the same file is sealed here`(vector: Vector) throws {
    let sealer = FileSealer(keys: vector.keys, random: LaidDownRandom([UInt8](hex: vector.random)))
    let sealed = try sealer.seal(Data([UInt8](hex: vector.plaintext)), vector.fields)
    #expect([UInt8](sealed.bytes) == vector.bytes)
    #expect(sealed.commitment == [UInt8](hex: vector.commitment))
  }

  @Test func `the identity is the code of application, scene and slot under the name key`() throws {
    for vector in Self.vectors {
      var message: [UInt8] = []
      for part in [vector.application, vector.scene, vector.slot] {
        message.appendInteger(UInt32(part.utf8.count))
        message += part.utf8
      }
      let nameKey = [UInt8](hex: vector.nameKey)
      let code = try HMACSHA256.authenticationCode(for: message.span, key: SecretKey(copying: nameKey.span))
      #expect(code == [UInt8](hex: vector.identity))
    }
    #expect(Self.vectors.count == 4)
  }
}

/// Gives bytes that were laid down before, and no others.
final class LaidDownRandom: RandomSource {
  private let rest: Mutex<[UInt8]>

  init(_ bytes: [UInt8]) { rest = Mutex(bytes) }

  func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
    let isEnough = rest.withLock { rest in
      guard rest.count >= buffer.count else { return false }
      unsafe buffer.copyBytes(from: rest.prefix(buffer.count))
      rest.removeFirst(buffer.count)
      return true
    }
    guard isEnough else { throw SealingError(.randomUnavailable, "There are no more bytes.") }
  }
}

extension [UInt8] {
  /// The bytes that pairs of hexadecimal digits stand for.
  init(hex: String) {
    let digits = Array(hex.utf8)
    self = stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)!
    }
  }
}
