import FoundationEssentials

/// What the header of a sealed file binds, as far as the store decides it.
struct SealedFields: Hashable, Sendable {
  /// What kind of sealed file it is.
  enum Kind: Hashable, Sendable, CaseIterable {
    case archive, journal, file
  }

  /// A flag in the header's upper schema half: the generation was saved while locked.
  static let pendingFlag: UInt32 = 1

  /// A flag there too: the content includes what the pending generations with lower numbers held.
  static let consumesPendingFlag: UInt32 = 2

  /// What kind of sealed file it is.
  var kind: Kind
  /// The class whose key wraps the file key.
  var protection: ProtectionClass
  /// The slot's HMAC under the name key, 32 bytes.
  var identity: [UInt8]
  /// The generation; a journal has its base's.
  var generation: UInt64
  /// The schema that the archive's writer gave.
  var schema: UInt32
  /// Flags of the store.
  var flags: UInt32
  /// A number of its own, 16 random bytes.
  var identifier: [UInt8]

  /// Whether the generation was saved while locked.
  var isPending: Bool { flags & SealedFields.pendingFlag != 0 }
  /// Whether the content includes what the pending generations with lower numbers held.
  var consumesPending: Bool { flags & SealedFields.consumesPendingFlag != 0 }
}

/// A sealed file, ready to be written.
struct SealedBytes: Sendable {
  /// The whole file.
  let bytes: Data
  /// What the file key commits to, 32 bytes.
  let commitment: [UInt8]
}

/// The bytes of a file, by ranges.
protocol SealedSource: Sendable {
  /// The file's length.
  var byteCount: Int { get }
  /// Reads a range; fewer bytes only if the file has become shorter.
  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8]
}

/// An opened sealed archive.
protocol SealedContent: ArchiveContent {
  /// What its header binds.
  var fields: SealedFields { get }
  /// What its file key commits to, 32 bytes.
  var commitment: [UInt8] { get }
}

/// Seals the frames of one journal; holds the journal's file key until the class key is wiped.
protocol JournalSealing: Sendable {
  /// The sealed header, to which the binding is appended.
  var header: [UInt8] { get }
  /// Seals a frame; returns the message and its commitment. Throws `.locked` once the key was wiped.
  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8])
}

/// Opens the frames of one journal.
protocol JournalOpening: Sendable {
  /// What its header binds.
  var fields: SealedFields { get }
  /// How many bytes of a message hold its commitment.
  var messagePrefixByteCount: Int { get }
  /// What a message says that its key commits to; nothing is proved by it.
  func claimedCommitment(of prefix: ArraySlice<UInt8>) -> [UInt8]?
  /// Opens a message; throws `.corrupt` when it is not that frame of this journal.
  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8])
}

/// What the store needs of the sealed file: nothing of it knows directories, ledgers or names.
protocol StoreSealing: Sendable {
  /// Seals a whole archive under a new file key.
  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes
  /// Opens an archive: header, class, identity, generation, commitment and final chunk are checked.
  func openArchive(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent
  /// Starts a journal under a new file key; the binding is authenticated with every frame.
  func makeJournal(
    _ fields: SealedFields, binding: [UInt8]
  ) throws(ProtectionError) -> any JournalSealing
  /// The length of the sealed header that begins with these bytes, for finding what follows it.
  func headerByteCount(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> Int
  /// The class that a header claims, before anything in it was authenticated.
  func claimedProtection(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> ProtectionClass
  /// Opens a journal's header.
  func openJournal(
    header: ArraySlice<UInt8>, binding: [UInt8], protection: ProtectionClass, identity: [UInt8],
    generation: UInt64
  ) throws(ProtectionError) -> any JournalOpening
}
