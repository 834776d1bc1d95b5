import FoundationEssentials
import Sealing

/// Seals whole files and journals under the class keys of a device, and opens them.
///
/// Everything about bytes and keys is decided here, nothing about names, directories or the newest generation.
struct FileSealer: StoreSealing {
  private let wrap: FileKeyWrap

  /// Works with the class keys of a device.
  ///
  /// - Parameters:
  ///   - keys: The class keys.
  ///   - random: Where file keys and salts come from; only tests give another than the system.
  init(keys: any ClassKeys, random: any RandomSource = SystemRandom()) {
    wrap = FileKeyWrap(keys: keys, random: random)
  }

  // MARK: Whole files

  /// Seals a file under a new file key; throws `locked` when the class can't be written now, or no longer.
  ///
  /// The class key is lent for wrapping the file key alone, so that a lock never waits for a large file.
  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    var registration: WipeRegistration?
    let (header, sealer) = try wrap.withNewKey(for: fields) { (header, fileKey) throws(SealingError) in
      let header = header.bytes
      let sealer = try ChunkedSealer(key: fileKey, context: header.span, random: wrap.random)
      registration = wrap.keys.onWipe(of: fields.protection) { sealer.wipe() }
      return (header, sealer)
    }
    let total = header.count + ChunkedEncryption.sealedByteCount(of: plaintext.count)
    let bytes = try sealing("seal the file") { () throws(SealingError) in
      try unsafe Data.filled(byteCount: total) { (target) throws(SealingError) in
        unsafe target.copyBytes(from: header)
        try unsafe sealer.seal(
          plaintext.span, into: UnsafeMutableRawBufferPointer(rebasing: target[header.count...]))
      }
    }
    return withExtendedLifetime(registration) { SealedBytes(bytes: bytes, commitment: sealer.commitment) }
  }

  /// Opens an archive: header, class, identity, generation, commitment and final chunk are checked.
  func openArchive(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    try open(source, kind: .archive, protection: protection, identity: identity, generation: generation)
  }

  /// Opens a sealed file of any kind but a journal.
  ///
  /// Throws, in this order of precedence: `corrupt` or `wrongIdentity` for what begins otherwise, `unsupportedVersion`,
  /// `wrongClass`, `otherDevice`, what the class keys throw (`locked`, `otherDevice`), `corrupt` for what is not
  /// authentic, then `rolledBack` for an authentic file of an older generation in the place of a newer one, and
  /// `wrongIdentity` for another one in its place.
  ///
  /// - Parameters:
  ///   - source: The file's bytes.
  ///   - kind: What kind of file is expected.
  ///   - protection: The class that is expected.
  ///   - identity: Whose file is expected, 32 bytes.
  ///   - generation: The generation that is expected; `nil` when any will do.
  func open(
    _ source: any SealedSource, kind: SealedFields.Kind, protection: ProtectionClass, identity: [UInt8],
    generation: UInt64?
  ) throws(ProtectionError) -> OpenSealedFile {
    let length = SealedFileHeader.maximumByteCount + ChunkedEncryption.prefixByteCount
    let start = try source.read(0..<min(length, source.byteCount))
    let header = try SealedFileHeader(reading: start[...], kind: kind)
    try header.check(protection: protection, keybag: wrap.keys.keybagIdentifier)
    let headerBytes = header.bytes
    let prefix = Array(start.dropFirst(headerBytes.count).prefix(ChunkedEncryption.prefixByteCount))
    var registration: WipeRegistration?
    let chunks = try wrap.withKey(of: header) { (fileKey) throws(SealingError) in
      SealedChunks(
        try ChunkedOpener(
          prefix: prefix.span, messageByteCount: source.byteCount - headerBytes.count, key: fileKey,
          context: headerBytes.span))
    } whileLent: { chunks in
      registration = wrap.keys.onWipe(of: protection) { chunks.wipe() }
    }
    try header.fields.check(identity: identity, generation: generation)
    let file = OpenSealedFile(
      fields: header.fields, source: source, messageOffset: headerBytes.count, chunks: chunks,
      registration: registration)
    try file.checkLength()
    return file
  }

  // MARK: Journals

  /// Starts a journal under a new file key; the binding is authenticated with every frame.
  func makeJournal(_ fields: SealedFields, binding: [UInt8]) throws(ProtectionError) -> any JournalSealing {
    var registration: WipeRegistration?
    let (header, frames) = try wrap.withNewKey(for: fields) { (header, fileKey) throws(SealingError) in
      let frames = SealedFrames(try fileKey.copy(), context: header.bytes + binding)
      registration = wrap.keys.onWipe(of: fields.protection) { frames.wipe() }
      return (header.bytes, frames)
    }
    return JournalSealer(header: header, frames: frames, random: wrap.random, registration: registration)
  }

  /// The length of the sealed header that begins with these bytes, for finding what follows it.
  func headerByteCount(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> Int {
    try SealedFileHeader.byteCount(for: claimedHeader(start).fields.protection)
  }

  /// The class that a header claims, before anything in it was authenticated.
  func claimedProtection(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> ProtectionClass {
    try claimedHeader(start).fields.protection
  }

  /// The header that a file of any kind begins with; only claims.
  func claimedHeader(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> SealedFileHeader {
    let magic = Array(start.prefix(8))
    let kind = SealedFields.Kind.allCases.first { $0.magic == magic }
    guard let kind else { throw .noHeader }
    return try SealedFileHeader(reading: start.prefix(SealedFileHeader.maximumByteCount), kind: kind)
  }

  /// Opens a journal's header; the header and the binding are authenticated with every frame.
  func openJournal(
    header start: ArraySlice<UInt8>, binding: [UInt8], protection: ProtectionClass, identity: [UInt8],
    generation: UInt64
  ) throws(ProtectionError) -> any JournalOpening {
    let header = try SealedFileHeader(reading: start, kind: .journal)
    try header.check(protection: protection, keybag: wrap.keys.keybagIdentifier)
    var registration: WipeRegistration?
    let frames = try wrap.withKey(of: header) { (fileKey) throws(SealingError) in
      SealedFrames(try fileKey.copy(), context: header.bytes + binding)
    } whileLent: { frames in
      registration = wrap.keys.onWipe(of: protection) { frames.wipe() }
    }
    try header.fields.check(identity: identity, generation: generation)
    return JournalOpener(fields: header.fields, frames: frames, registration: registration)
  }
}

extension SealedFields {
  /// Judges authenticated fields: whose file it is, and which generation.
  fileprivate func check(identity: [UInt8], generation: UInt64?) throws(ProtectionError) {
    guard self.identity == identity else {
      throw ProtectionError(
        .wrongIdentity, "The file is genuine but another one's: somebody put it in this one's place.")
    }
    guard let generation, self.generation != generation else { return }
    guard self.generation > generation else {
      throw ProtectionError(
        .rolledBack,
        "The file is genuine but generation \(self.generation), put in the place of generation \(generation).")
    }
    throw ProtectionError(
      .wrongIdentity,
      "The file is genuine but generation \(self.generation), in the place of generation \(generation).")
  }
}

extension Data {
  /// Makes data of memory that isn't zeroed first; freed, wiped, if filling fails.
  static func filled<E: Error>(
    byteCount: Int, by fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws(E) -> Data {
    guard byteCount > 0 else {
      try unsafe fill(UnsafeMutableRawBufferPointer(start: nil, count: 0))
      return Data()
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    do throws(E) {
      try unsafe fill(memory)
    } catch {
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
      unsafe memory.deallocate()
      throw error
    }
    return unsafe Data(
      bytesNoCopy: memory.baseAddress!, count: byteCount,
      deallocator: .custom { start, _ in unsafe start.deallocate() })
  }
}
