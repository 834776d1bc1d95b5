import Foundation

/// What a credential of `systemd-creds` is encrypted under, as its first bytes say.
///
/// The identifiers are those of systemd's `src/shared/creds-util.h`; the header is authenticated with what it heads, so that
/// nobody passes one type for another.
struct CredentialType {
  /// What a program may have asked for; nil for the key that is none.
  let key: EncryptedCredentialKey.Key?
  /// The key in words.
  let words: String

  private static let identifierByteCount = 16

  /// Reads the type; nil when no credential begins so.
  init?(ofCredential text: [UInt8]) {
    let digits = text.filter { !Self.isSpace($0) }.prefix(24)
    guard let head = Data(base64Encoded: Data(digits)), head.count >= Self.identifierByteCount else { return nil }
    let identifier = head.prefix(Self.identifierByteCount).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
    switch identifier {
    case "5a1c6a86df9d4096b1d5a65e0862f19a", "55b9ed1d38594d43a8319d2ebb332ac6":
      (key, words) = (.host, "the system's key alone")
    case "0c7cc07b117645919c4b0bea08bc20fe", "faf7eb9341e3412ca1a436f95a29362f":
      (key, words) = (.tpm2, "the TPM 2 alone")
    case "93a894094874449090caf2fc93cab553", "ef4ac13679a9480ea7db68897f9f165d",
      "af4950a849134eb1a73846304ff30c05", "adbc4ca3efb64201ba881b6f2e4095ea", "2a1f877a4275431ab3f9ed1f5d8f6601",
      "16e492949f94400286758f94b7c52bc7":
      (key, words) = (.hostAndTPM2, "the system's key and the TPM 2")
    case "058469daf6f54324800549da0f8ea2fb":
      (key, words) = (nil, "no key at all (the null key)")
    default: return nil
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
