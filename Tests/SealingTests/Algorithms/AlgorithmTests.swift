import Sealing
import Testing

struct AlgorithmTests {
  let vectors = CommittedVectors.all

  @Test func `HMAC-SHA-256 agrees with an independent implementation`() throws {
    for vector in vectors.hmac {
      let key = try [UInt8](hex: vector.key).key()
      let message = [UInt8](hex: vector.message)
      let code = try HMACSHA256.authenticationCode(for: message.span, key: key)
      #expect(code == [UInt8](hex: vector.code))
      #expect(try HMACSHA256.isValid(code.span, for: message.span, key: key))
      for bit in 0..<256 {
        var changed = code
        changed[bit / 8] ^= 1 << (bit % 8)
        #expect(try !HMACSHA256.isValid(changed.span, for: message.span, key: key))
      }
      #expect(try !HMACSHA256.isValid(Array(code.dropLast()).span, for: message.span, key: key))
    }
    #expect(vectors.hmac.count == 8)
  }

  @Test func `HKDF-SHA-256 agrees with an independent implementation`() throws {
    for vector in vectors.hkdf {
      let extracted = try HKDF.extract(
        salt: [UInt8](hex: vector.salt).secret(), inputKey: [UInt8](hex: vector.ikm).secret())
      let expanded = try HKDF.expand(extracted, info: [UInt8](hex: vector.info).span)
      #expect(try expanded.revealed() == [UInt8](hex: vector.okm))
    }
  }

  @Test func `an empty info after another one is an empty info`() throws {
    let key = try [UInt8](repeating: 1, count: 32).key()
    let empty: [UInt8] = []
    let alone = try HKDF.expand(key, info: empty.span).revealed()
    for _ in 0..<20 {
      _ = try HKDF.expand(key, info: [UInt8](repeating: 5, count: 100).span)
      #expect(try HKDF.expand(key, info: empty.span).revealed() == alone)
    }
  }

  @Test func `key derivation refuses lengths that its definition excludes`() throws {
    let key = try [UInt8](repeating: 1, count: 32).key()
    for count in [-1, 0, 255 * 32 + 1] {
      let code = codeThrown { _ = try HKDF.expand(key, info: [UInt8]().span, byteCount: count) }
      #expect(code == .invalidLength)
    }
    let long = [UInt8](repeating: 0, count: 1025)
    #expect(codeThrown { _ = try HKDF.expand(key, info: long.span) } == .invalidLength)
    let longest = try HKDF.expand(key, info: long.span.extracting(first: 1024), byteCount: 255 * 32)
    #expect(longest.byteCount == 8160)
  }

  @Test func `the key wrap agrees with an independent implementation and notices every changed bit`() throws {
    for vector in vectors.wrap {
      let kek = try [UInt8](hex: vector.kek).key()
      let wrapped = try KeyWrap.wrap([UInt8](hex: vector.secret).secret(), with: kek)
      #expect(wrapped == [UInt8](hex: vector.wrapped))
      #expect(try KeyWrap.unwrap(wrapped.span, with: kek).revealed() == [UInt8](hex: vector.secret))
      for bit in 0..<wrapped.count * 8 {
        var changed = wrapped
        changed[bit / 8] ^= 1 << (bit % 8)
        #expect(codeThrown { _ = try KeyWrap.unwrap(changed.span, with: kek) } == .authenticationFailed)
      }
    }
  }

  @Test(arguments: [0, 8, 16, 23, 25, 39, 41]) func `what can't be a wrapped key is refused`(count: Int) throws {
    let kek = try [UInt8](repeating: 1, count: 32).key()
    let code = codeThrown { _ = try KeyWrap.unwrapKey([UInt8](repeating: 0, count: count).span, with: kek) }
    #expect(code == .invalidLength)
  }

  @Test func `X25519 agrees with an independent implementation`() throws {
    for vector in vectors.x25519 {
      let key = try [UInt8](hex: vector.private).key()
      #expect(try X25519.publicKey(of: key) == [UInt8](hex: vector.public))
      let shared = try X25519.sharedSecret(key, with: [UInt8](hex: vector.peer).span)
      #expect(try shared.revealed() == [UInt8](hex: vector.shared))
    }
  }

  /// The points of low order on the curve and its twist (RFC 7748, section 6.1, and <https://cr.yp.to/ecdh.html>).
  static let lowOrder = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ]

  @Test(arguments: lowOrder) func `a public key of low order is refused`(peer: String) throws {
    let key = try SecretKey(from: SystemRandom())
    #expect(codeThrown { _ = try X25519.sharedSecret(key, with: [UInt8](hex: peer).span) } == .invalidPublicKey)
  }

  @Test func `scrypt agrees with an independent implementation`() throws {
    for vector in vectors.scrypt {
      let cost = Scrypt.Cost(work: vector.work, blockSize: vector.blockSize, parallelism: vector.parallelism)
      let key = try Scrypt.derive(
        from: [UInt8](hex: vector.passcode).secret(), salt: [UInt8](hex: vector.salt).span, cost: cost)
      #expect(try key.revealed() == [UInt8](hex: vector.key))
    }
  }

  @Test(arguments: [
    Scrypt.Cost(work: 0, blockSize: 8, parallelism: 1), Scrypt.Cost(work: 1, blockSize: 8, parallelism: 1),
    Scrypt.Cost(work: 1000, blockSize: 8, parallelism: 1), Scrypt.Cost(work: 1 << 17, blockSize: 0, parallelism: 1),
    Scrypt.Cost(work: 1 << 17, blockSize: 8, parallelism: 0), Scrypt.Cost(work: 1 << 40, blockSize: 8, parallelism: 1),
    Scrypt.Cost(work: 1 << 17, blockSize: .max, parallelism: 1),
    Scrypt.Cost(work: 2, blockSize: 8, parallelism: .max), Scrypt.Cost(work: .max, blockSize: .max, parallelism: .max),
    Scrypt.Cost(work: 1 << 23, blockSize: 8, parallelism: 1), Scrypt.Cost(work: 1 << 16, blockSize: 1, parallelism: 1),
  ])
  func `a scrypt cost out of bounds is refused before it is paid`(cost: Scrypt.Cost) throws {
    #expect(cost.byteCount == nil)
    let code = codeThrown { _ = try Scrypt.derive(from: [UInt8]("x".utf8).secret(), salt: [1].span, cost: cost) }
    #expect(code == .invalidParameter)
  }

  @Test func `the production cost of scrypt is within the bounds`() {
    #expect(Scrypt.Cost.production.byteCount.map { $0 >> 20 } == 128)
  }

  @Test func `AES-256-GCM agrees with an independent implementation`() throws {
    for vector in vectors.gcm {
      let key = try [UInt8](hex: vector.key).key()
      let (nonce, data) = ([UInt8](hex: vector.nonce), [UInt8](hex: vector.data))
      let message = [UInt8](hex: vector.message)
      let sealed = try AESGCM.seal(message.span, key: key, nonce: nonce.span, additionalData: data.span)
      #expect(sealed == [UInt8](hex: vector.sealed))
      #expect(try AESGCM.open(sealed.span, key: key, nonce: nonce.span, additionalData: data.span) == message)
    }
  }

  @Test func `comparison in constant time finds every difference`() {
    func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { ConstantTime.areEqual(left.span, right.span) }
    let bytes = (0..<40).map { UInt8($0) }
    #expect(areEqual(bytes, Array(bytes)))
    #expect(areEqual([], []))
    #expect(!areEqual(bytes, Array(bytes.dropLast())))
    for bit in 0..<320 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(!areEqual(bytes, changed))
    }
  }

  @Test func `no algorithm is looked up twice, however much is done`() throws {
    let key = try SecretKey(from: SystemRandom())
    for _ in 0..<50 {
      _ = try HMACSHA256.authenticationCode(for: [1, 2].span, key: key)
      let derived = try HKDF.expand(key, info: [3].span)
      let wrapped = try KeyWrap.wrap(derived, with: key)
      _ = try KeyWrap.unwrapKey(wrapped.span, with: key)
      let sealed = try ChunkedEncryption.seal([4].span, key: key, context: [5].span, random: SystemRandom())
      _ = try ChunkedEncryption.open(sealed.bytes.span, key: key, context: [5].span)
      _ = try Scrypt.derive(
        from: key, salt: [6].span, cost: Scrypt.Cost(work: 2, blockSize: 8, parallelism: 1))
      CryptographicContexts.freeAll()
    }
    let counts = CryptographicContexts.fetchCounts
    #expect(Set(counts.keys) == ["HMAC", "HKDF", "AES-256-WRAP", "AES-256-GCM", "SCRYPT"])
    #expect(counts.values.allSatisfy { $0 == 1 })
  }
}
