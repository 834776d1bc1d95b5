import Foundation
import Sealing
import Testing

/// The published vectors; every test asserts how many of them ran.
@Suite(.enabled(if: Wycheproof.directory != nil, Comment(rawValue: Wycheproof.hint)))
struct WycheproofTests {
  @Test func `HMAC-SHA-256 agrees with the published vectors`() throws {
    var ran = 0
    for group in try Wycheproof.read("hmac_sha256_test.json").testGroups {
      for test in group.tests {
        let code = try HMACSHA256.authenticationCode(
          for: [UInt8](hex: test.msg!).span, key: [UInt8](hex: test.key!).secret())
        let expected = [UInt8](hex: test.tag!)
        #expect((Array(code.prefix(expected.count)) == expected) == test.isValid, "\(test.tcId): \(test.comment)")
        ran += 1
      }
    }
    report(ran, of: 174, "HMAC-SHA-256")
  }

  @Test func `HKDF-SHA-256 agrees with the published vectors`() throws {
    var ran = 0
    for group in try Wycheproof.read("hkdf_sha256_test.json").testGroups {
      for test in group.tests {
        var output: [UInt8]?
        do {
          let extracted = try HKDF.extract(
            salt: [UInt8](hex: test.salt!).secret(), inputKey: [UInt8](hex: test.ikm!).secret())
          output = try HKDF.expand(extracted, info: [UInt8](hex: test.info!).span, byteCount: test.size!).revealed()
        } catch let error as SealingError where error.code == .invalidLength {
          output = nil
        }
        #expect((output != nil) == test.isValid, "\(test.tcId): \(test.comment)")
        if test.isValid { #expect(output == [UInt8](hex: test.okm!), "\(test.tcId): \(test.comment)") }
        ran += 1
      }
    }
    report(ran, of: 86, "HKDF-SHA-256")
  }

  @Test func `the 256-bit key wrap agrees with the published vectors`() throws {
    var ran = 0
    for group in try Wycheproof.read("aes_wrap_test.json").testGroups where group.keySize == 256 {
      for test in group.tests {
        let kek = try [UInt8](hex: test.key!).key()
        let message = [UInt8](hex: test.msg!)
        let wrapped = [UInt8](hex: test.ct!)
        let opened = try? KeyWrap.unwrap(wrapped.span, with: kek).revealed()
        if test.isValid {
          #expect(opened == message, "\(test.tcId): \(test.comment)")
          #expect(try KeyWrap.wrap(message.secret(), with: kek) == wrapped, "\(test.tcId): \(test.comment)")
        } else {
          #expect(opened == nil, "\(test.tcId): \(test.comment)")
        }
        ran += 1
      }
    }
    report(ran, of: 68, "AES key wrap, 256 bits")
  }

  @Test func `X25519 agrees with the published vectors and refuses a zero secret`() throws {
    var ran = 0
    var zero = 0
    for group in try Wycheproof.read("x25519_test.json").testGroups {
      for test in group.tests {
        let shared = [UInt8](hex: test.shared!)
        let key = try [UInt8](hex: test.private!).key()
        let peer = [UInt8](hex: test.public!)
        if shared.allSatisfy({ $0 == 0 }) {
          let code = codeThrown { _ = try X25519.sharedSecret(key, with: peer.span) }
          #expect(code == .invalidPublicKey, "\(test.tcId): \(test.comment)")
          zero += 1
        } else {
          #expect(try X25519.sharedSecret(key, with: peer.span).revealed() == shared, "\(test.tcId): \(test.comment)")
        }
        ran += 1
      }
    }
    #expect(zero > 0)
    report(ran, of: 518, "X25519")
  }

  @Test func `AES-256-GCM agrees with the published vectors`() throws {
    var ran = 0
    var refused = 0
    for group in try Wycheproof.read("aes_gcm_test.json").testGroups where group.keySize == 256 {
      for test in group.tests {
        let key = try [UInt8](hex: test.key!).key()
        let (nonce, data) = ([UInt8](hex: test.iv!), [UInt8](hex: test.aad!))
        let message = [UInt8](hex: test.msg!)
        let sealed = [UInt8](hex: test.ct!) + [UInt8](hex: test.tag!)
        var opened: [UInt8]?
        let code = codeThrown {
          opened = try AESGCM.open(sealed.span, key: key, nonce: nonce.span, additionalData: data.span)
        }
        if group.ivSize != 96 {
          // Other nonces than of 12 bytes are excluded here, valid or not.
          #expect(code == .invalidLength, "\(test.tcId): \(test.comment)")
          refused += 1
        } else if test.isValid {
          #expect(opened == message, "\(test.tcId): \(test.comment)")
          let again = try AESGCM.seal(message.span, key: key, nonce: nonce.span, additionalData: data.span)
          #expect(again == sealed, "\(test.tcId): \(test.comment)")
        } else {
          #expect(code == .authenticationFailed, "\(test.tcId): \(test.comment)")
        }
        ran += 1
      }
    }
    #expect(ran - refused == 66)
    report(ran, of: 105, "AES-256-GCM, of which \(refused) were refused for their nonce's length")
  }

  @Test func `the chunked encryption agrees with the published vectors`() throws {
    var ran = 0
    for group in try Wycheproof.read("c2sp_chunked_encryption_aes_256_gcm_test.json").testGroups {
      for test in group.tests {
        try check(test)
        ran += 1
      }
    }
    report(ran, of: 35, "Cobblestone-256")
  }

  private func check(_ test: Wycheproof.Test) throws {
    let path = Wycheproof.directory!.appending(path: "chunked/\(test.tcId)")
    let message = try [UInt8](#require(try? Data(contentsOf: path), "run prepare-wycheproof.py first"))
    let context = [UInt8](hex: test.ctx!)
    let keyBytes = [UInt8](hex: test.key!)
    guard !test.flags.contains("InvalidKeySize") else {
      #expect(codeThrown { _ = try keyBytes.key() } == .invalidLength)
      return
    }
    let key = try keyBytes.key()
    var plaintext: [UInt8]?
    let code = codeThrown {
      plaintext = try ChunkedEncryption.open(message.span, key: key, context: context.span)
    }
    if test.isValid {
      let salt = ScriptedRandom(Array(message.prefix(24)))
      let opened = try #require(plaintext, "\(test.tcId): \(test.comment)")
      #expect(opened.count == test.msgLength)
      let again = try ChunkedEncryption.seal(opened.span, key: key, context: context.span, random: salt)
      #expect(again.bytes == message, "\(test.tcId): \(test.comment)")
    } else {
      #expect(code == .authenticationFailed, "\(test.tcId): \(test.comment)")
      #expect(plaintext == nil)
    }
    // What must be noticed before any chunk is looked at, and whether the final chunk alone is genuine.
    let opener = try? ChunkedOpener(
      prefix: Array(message.prefix(56)).span, messageByteCount: message.count, key: key, context: context.span)
    if test.flags.contains("HeaderFailure") { #expect(opener == nil, "\(test.tcId): \(test.comment)") }
    guard let opener else { return }
    let last = opener.chunkCount - 1
    let final = try? opener.openChunk(
      last, of: Array(message[opener.messageRange(ofChunks: last..<last + 1)]).span)
    #expect(
      (final != nil) == (test.isValid || test.flags.contains("ValidFinalChunk")), "\(test.tcId): \(test.comment)")
  }

  private func report(_ ran: Int, of expected: Int, _ what: String) {
    print("Wycheproof: \(ran) vectors ran: \(what)")
    #expect(ran == expected)
  }
}
