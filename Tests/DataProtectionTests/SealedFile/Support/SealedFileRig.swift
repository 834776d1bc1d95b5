import FoundationEssentials
import Sealing

@testable import DataProtection

/// A sealer with its keys, and files made by it.
struct SealedFileRig {
  let keys: FixedClassKeys
  let sealer: FileSealer
  let identity = [UInt8](repeating: 0x1D, count: 32)

  init(_ keys: FixedClassKeys = FixedClassKeys()) {
    self.keys = keys
    sealer = FileSealer(keys: keys)
  }

  func fields(
    _ protection: ProtectionClass = .complete, kind: SealedFields.Kind = .archive, identity: [UInt8]? = nil,
    generation: UInt64 = 7
  ) -> SealedFields {
    SealedFields(
      kind: kind, protection: protection, identity: identity ?? self.identity, generation: generation)
  }

  func seal(_ plaintext: Data, _ fields: SealedFields? = nil) throws(ProtectionError) -> [UInt8] {
    [UInt8](try sealer.seal(plaintext, fields ?? self.fields()).bytes)
  }

  func open(
    _ source: BytesSource, _ protection: ProtectionClass = .complete, kind: SealedFields.Kind = .archive,
    generation: UInt64? = 7
  ) throws(ProtectionError) -> OpenSealedFile {
    try sealer.open(source, kind: kind, protection: protection, identity: identity, generation: generation)
  }

  /// What comes of opening and reading the whole of these bytes; `nil` when it works.
  func outcome(_ bytes: [UInt8], _ protection: ProtectionClass = .complete) -> ProtectionError.Code? {
    do throws(ProtectionError) {
      let file = try open(BytesSource(bytes), protection)
      _ = try file.read(0..<file.byteCount)
      return nil
    } catch {
      return error.code
    }
  }

  /// State of so many bytes, all different enough that chunks can't be mistaken for each other.
  static func plaintext(_ count: Int) -> Data {
    var value: UInt64 = 0x9E37_79B9_7F4A_7C15
    return Data(
      (0..<count).map { _ in
        value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: value >> 56)
      })
  }
}

/// The code of a thrown error; `nil` when nothing was thrown.
func protectionCode(_ body: () throws(ProtectionError) -> Void) -> ProtectionError.Code? {
  do throws(ProtectionError) {
    try body()
    return nil
  } catch {
    return error.code
  }
}
