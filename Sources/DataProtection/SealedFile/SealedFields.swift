import FoundationShim

/// What the header of a sealed file binds, as far as the store decides it.
struct SealedFields: Hashable, Sendable {
  /// What kind of sealed file it is.
  enum Kind: Hashable, Sendable, CaseIterable {
    case archive, file
  }

  /// What else a header says of the file.
  struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// Saved while locked, sealed one-way.
    static let oneWay = Flags(rawValue: 1)
    /// Only the nodes touched in a locked run.
    static let partial = Flags(rawValue: 2)
    /// Only nodes that a run has touched which could read the rest.
    static let beside = Flags(rawValue: 4)
  }

  /// What kind of sealed file it is.
  var kind: Kind
  /// The class whose key the file key is derived from.
  var protection: ProtectionClass
  /// The slot's HMAC under the name key, 32 bytes.
  var identity: [UInt8]
  /// The number of the file; of a generation of one part it is the generation's.
  var generation: UInt64
  /// Which part of a generation it is.
  var place = PartPlace.root
  /// What else is said of the file.
  var flags: Flags = []
  /// The length of the sealed base behind the header; the sealer sets it.
  var messageByteCount = 0

  /// The longest base that a header can bind: its length has 48 bits.
  static let maximumMessageByteCount = 1 << 48 - 1
}

/// A sealed file, ready to be written.
struct SealedBytes: FrameBase, Sendable {
  /// What its header says.
  let fields: SealedFields
  /// The whole file.
  let bytes: Data
  /// Where the sealed base ends in the file, and frames begin.
  var endOffset: Int { bytes.count }
  /// What the file key commits to, 32 bytes.
  let commitment: [UInt8]
  /// Seals the frames that are appended to it.
  let frames: any FrameSealing
}

/// The bytes of a file, by ranges.
protocol SealedSource: Sendable {
  /// The file's length.
  var byteCount: Int { get }
  /// Reads a range; fewer bytes only if the file has become shorter.
  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8]
}

/// Seals and opens the frames of one generation under its file key, until the class key is wiped.
protocol FrameSealing: Sendable {
  /// Seals a frame; throws `.locked` once the key was wiped.
  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8])
  /// Opens a message; throws `.corrupt` when it is not that frame of this generation.
  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8])
}

/// An opened sealed file.
protocol SealedContent: FrameBase, Sendable {
  /// What its header binds.
  var fields: SealedFields { get }
  /// What its file key commits to, 32 bytes.
  var commitment: [UInt8] { get }
  /// Where the sealed base ends in the file, and frames begin.
  var endOffset: Int { get }
  /// Opens and seals the frames behind it.
  var frames: any FrameSealing { get }
  /// The length of the content in bytes.
  var byteCount: Int { get }
  /// How many chunks have been decrypted so far.
  var chunksOpened: Int { get }
  /// Decrypts the chunks of the range, and no more.
  func read(_ range: Range<Int>) throws(ProtectionError) -> Data
}

/// What a header says before anything in it was authenticated.
struct SealedClaims: FrameBase, Sendable {
  /// The fields.
  let fields: SealedFields
  /// The length of the header.
  let headerByteCount: Int

  /// Where the sealed base ends in the file, if the claim is true.
  var endOffset: Int { headerByteCount + fields.messageByteCount }
}

/// What the store needs of the sealed file: nothing of it knows directories, ledgers or names.
protocol StoreSealing: Sendable {
  /// Seals a whole file under a new file key.
  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes
  /// Opens a file: header, class, identity, generation, commitment and final chunk are checked.
  func open(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent
  /// What the header claims that begins with these bytes.
  func claims(of start: ArraySlice<UInt8>) throws(ProtectionError) -> SealedClaims
  /// Whether the key that opens files of a class is in memory.
  func isAvailable(_ protection: ProtectionClass) -> Bool
}

/// So much of a content is in memory while it is only checked.
private let pieceByteCount = 1 << 20

extension SealedContent {
  /// Reads everything, piece by piece, and keeps nothing: every chunk is authenticated.
  func readThrough() throws(ProtectionError) {
    var position = 0
    repeat {
      let end = min(position + pieceByteCount, byteCount)
      _ = try read(position..<end)
      position = end
    } while position < byteCount
  }
}
