import FileSystem
import Sealing

/// The frame of the store's own small files: magic, version, keybag, body, and a code over all of it.
///
/// Nothing in the body is believed before the code was checked. Magic, version, keybag and code keep their places and their
/// key in every version, so that only an authentic file of a later version counts as one.
enum SealedRecord {
  /// Magic, version, two zero bytes, and the keybag's identifier.
  static let headerByteCount = 28
  /// The authentication code at the end.
  static let codeByteCount = 32

  /// The bytes of a file.
  ///
  /// - Parameters:
  ///   - magic: Its first eight bytes.
  ///   - body: What it says.
  ///   - context: What the code covers besides.
  static func encode(
    magic: String, body: [UInt8], context: [UInt8] = [], purpose: StoreKeyPurpose, keys: any StoreKeys
  ) throws(ProtectionError) -> [UInt8] {
    var bytes = Array(magic.utf8)
    bytes.appendInteger(version)
    bytes.appendZeroes(2)
    bytes += keys.keybagIdentifier.bytes
    bytes += body
    return bytes + (try keys.authenticationCode(purpose, over: bytes + context))
  }

  /// The body of a file.
  ///
  /// Throws `.corrupt`; `.otherDevice` for one of another keybag; `.unsupportedVersion` for a layout of the future.
  static func decode(
    _ bytes: [UInt8], called name: String, magic: String, context: [UInt8] = [],
    purpose: StoreKeyPurpose, keys: any StoreKeys
  ) throws(ProtectionError) -> ArraySlice<UInt8> {
    let corrupt = ProtectionError(.corrupt, "\(name) is damaged; the newest authentic archive will be used.")
    guard bytes.count >= headerByteCount + codeByteCount, bytes.starts(with: magic.utf8) else { throw corrupt }
    var reader = FieldReader(bytes[8...])
    let found: UInt16 = reader.integer()
    _ = reader.take(2)
    guard reader.take(KeybagIdentifier.byteCount).elementsEqual(keys.keybagIdentifier.bytes) else {
      throw ProtectionError(
        .otherDevice, "\(name) was made on another device, or on this one before it was erased; its keys are not here.")
    }
    let body = bytes.dropLast(codeByteCount)
    let code = try keys.authenticationCode(purpose, over: Array(body) + context)
    guard ConstantTime.areEqual(Array(bytes.suffix(codeByteCount)).span, code.span), found > 0 else { throw corrupt }
    guard found == version else {
      throw ProtectionError(.unsupportedVersion, "\(name) has format \(found), newer than this program; update it.")
    }
    return body.dropFirst(headerByteCount)
  }

  /// So long may be a file of any version, but for the list of slots.
  static let byteLimit = 64 << 10
  private static let version: UInt16 = 1
}

/// What became of reading one of the store's own small files.
enum RecordReading<Record: Sendable>: Sendable {
  /// It is authentic.
  case valid(Record)
  /// There is none.
  case absent
  /// It is damaged, of another device or slot, or of a newer format.
  case invalid(ProtectionError)

  /// Its error; nil when it is whole.
  var problem: ProtectionError? { if case .invalid(let error) = self { error } else { nil } }

  /// What it says, if it is authentic.
  var value: Record? { if case .valid(let record) = self { record } else { nil } }
}

extension StoreDirectory {
  /// Reads one of the store's own small files; throws only what the disk says.
  ///
  /// - Parameter limit: The longest that a file of any version has.
  func readRecord<Record>(
    _ name: String, in directory: Descriptor, limit: Int, _ parse: ([UInt8]) throws(ProtectionError) -> Record
  ) throws(ProtectionError) -> RecordReading<Record> {
    do throws(ProtectionError) {
      let record = try readSmallFile(name, in: directory, limit: limit, fileSystem, parse)
      return record.map { .valid($0) } ?? .absent
    } catch {
      switch error.code {
      case .corrupt, .otherDevice, .unsupportedVersion: return .invalid(error)
      default: throw error
      }
    }
  }

  /// Reads the ledger of a slot, whosever it is.
  func readLedger(in slot: SlotDirectory) throws(ProtectionError) -> RecordReading<Ledger> {
    try readRecord(SlotFile.ledger.text, in: slot.descriptor, limit: SealedRecord.byteLimit) {
      bytes throws(ProtectionError) in try Ledger(bytes, keys: keys)
    }
  }

  /// Reads the crash marker of a slot.
  func readMarker(in slot: SlotDirectory, _ identity: [UInt8]) throws(ProtectionError) -> RecordReading<CrashMarker> {
    try readRecord(SlotFile.marker.text, in: slot.descriptor, limit: SealedRecord.byteLimit) {
      bytes throws(ProtectionError) in try CrashMarker(bytes, identity: identity, keys: keys)
    }
  }
}
