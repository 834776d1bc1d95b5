import Foundation

/// The vectors in `Tests/Fixtures/Vectors`, which an independent implementation made.
struct CommittedVectors: Decodable {
  struct HMAC: Decodable { var key, message, code: String }
  struct HKDF: Decodable { var salt, ikm, info, okm: String }
  struct Wrap: Decodable { var kek, secret, wrapped: String }
  struct X25519: Decodable { var `private`, `public`, peer, shared: String }
  struct GCM: Decodable { var key, nonce, data, message, sealed: String }
  struct Scrypt: Decodable {
    var passcode, salt, key: String
    var work: UInt64
    var blockSize, parallelism: UInt32
  }
  struct Chunked: Decodable {
    var key, salt, context, pattern, commitment, messageSHA512: String
    var message: String?
    var byteCount, messageByteCount: Int

    /// The plaintext: 256 bytes, repeated.
    var plaintext: [UInt8] {
      let pattern = [UInt8](hex: pattern)
      return (0..<byteCount).map { pattern[$0 % 256] }
    }
  }

  var hmac: [HMAC]
  var hkdf: [HKDF]
  var wrap: [Wrap]
  var x25519: [X25519]
  var gcm: [GCM]
  var scrypt: [Scrypt]
  var chunked: [Chunked]

  static let all: CommittedVectors = {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try! Data(contentsOf: tests.appending(path: "Fixtures/Vectors/vectors.json"))
    return try! JSONDecoder().decode(CommittedVectors.self, from: data)
  }()
}
