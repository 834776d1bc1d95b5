import FoundationShim
import Sealing

/// Seals files and their frames under the class keys of a device, and opens them.
///
/// Everything about bytes and keys is decided here, nothing about names, directories or the newest generation.
struct FileSealer: StoreSealing {
  private let files: FileKeys

  /// Works with the class keys of a device.
  ///
  /// - Parameters:
  ///   - keys: The class keys.
  ///   - random: Where file keys and salts come from; only tests give another than the system.
  init(keys: any ClassKeys, random: any RandomSource = SystemRandom()) {
    files = FileKeys(keys: keys, random: random)
  }

  func isAvailable(_ protection: ProtectionClass) -> Bool { files.keys.isAvailable(protection) }

  // MARK: Sealing

  /// Seals a file under a key of its own; throws `locked` when the class can't be written now, or no longer.
  ///
  /// The class key is lent for deriving that alone, so that a lock never waits for a large file.
  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    var fields = fields
    fields.messageByteCount = ChunkedEncryption.sealedByteCount(of: plaintext.count)
    var registration: WipeRegistration?
    let salt = try sealing("make a salt") { () throws(SealingError) in
      try files.random.bytes(count: ChunkedEncryption.saltByteCount)
    }
    let (header, sealer, frames) = try files.withNewKey(for: fields, salt: salt) {
      (header, fileKey) throws(SealingError) in
      let headerBytes = header.bytes
      let sealer = try ChunkedSealer(key: fileKey, context: headerBytes.span, salt: salt)
      let frames = SealedFrames(try fileKey.copy(), commitment: sealer.commitment, random: files.random)
      registration = files.keys.onWipe(of: header.fields.protection) { sealer.wipe() }
      register(frames, header.fields.protection)
      return (headerBytes, sealer, frames)
    }
    let total = header.count + fields.messageByteCount
    let bytes = try sealing("seal the file") { () throws(SealingError) in
      try unsafe Data.filled(byteCount: total, isPlaintext: false) { (target) throws(SealingError) in
        unsafe target.copyBytes(from: header)
        try unsafe sealer.seal(
          plaintext.span, into: UnsafeMutableRawBufferPointer(rebasing: target[header.count...]))
      }
    }
    return withExtendedLifetime(registration) {
      SealedBytes(fields: fields, bytes: bytes, commitment: sealer.commitment, frames: frames)
    }
  }

  /// Has the key of frames wiped when the class's keys go; call it while the class key is lent.
  private func register(_ frames: SealedFrames, _ protection: ProtectionClass) {
    frames.keep(files.keys.onWipe(of: protection) { [weak frames] in frames?.wipe() })
  }

  // MARK: Opening

  /// Opens an archive: header, class, identity, generation, commitment and final chunk are checked.
  func open(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    try open(source, kind: .archive, protection: protection, identity: identity, generation: generation)
  }

  /// Opens a sealed file of any kind.
  ///
  /// Throws, in this order of precedence: `corrupt` or `wrongIdentity` for what begins otherwise, `unsupportedVersion`,
  /// `wrongClass`, `otherDevice`, what the class keys throw (`locked`, `otherDevice`), `corrupt` for bytes that are not
  /// authentic, then `rolledBack` for an authentic file of an older generation in the place of a newer one, and
  /// `wrongIdentity` for another one in its place.
  ///
  /// - Parameters:
  ///   - source: The file's bytes; behind its base there may be frames.
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
    try header.check(protection: protection)
    let headerBytes = header.bytes
    let messageByteCount = header.fields.messageByteCount
    let rest = source.byteCount - headerBytes.count
    guard messageByteCount <= rest else {
      throw ProtectionError(.corrupt, "The file is shorter than its header says.")
    }
    let prefix = Array(start.dropFirst(headerBytes.count).prefix(ChunkedEncryption.prefixByteCount))
    var registration: WipeRegistration?
    let salt = Array(prefix.prefix(ChunkedEncryption.saltByteCount))
    let (chunks, frames) = try files.withKey(of: header, salt: salt) { (fileKey) throws(SealingError) in
      let opener = try ChunkedOpener(
        prefix: prefix.span, messageByteCount: messageByteCount, key: fileKey, context: headerBytes.span)
      let frames = SealedFrames(try fileKey.copy(), commitment: opener.commitment, random: files.random)
      return (SealedChunks(opener), frames)
    } whileLent: { chunks, frames in
      registration = files.keys.onWipe(of: protection) { chunks.wipe() }
      register(frames, protection)
    }
    try header.fields.check(identity: identity, generation: generation)
    let file = OpenSealedFile(
      fields: header.fields, source: source, messageOffset: headerBytes.count, chunks: chunks, frames: frames,
      registration: registration)
    try file.checkLength()
    return file
  }

  /// What a header claims, of a file of any kind.
  func claims(of start: ArraySlice<UInt8>) throws(ProtectionError) -> SealedClaims {
    let magic = Array(start.prefix(8))
    guard let kind = SealedFields.Kind.allCases.first(where: { $0.magic == magic }) else { throw .noHeader }
    let header = try SealedFileHeader(reading: start.prefix(SealedFileHeader.maximumByteCount), kind: kind)
    return SealedClaims(
      fields: header.fields, headerByteCount: SealedFileHeader.byteCount(for: header.fields.protection))
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
  /// Makes data of memory that isn't zeroed first; plaintext is wiped with its last reference, or if filling fails.
  static func filled<E: Error>(
    byteCount: Int, isPlaintext: Bool = true, by fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
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
      deallocator: .custom { start, count in
        // A state is in memory for no longer than somebody has it.
        if isPlaintext { unsafe UnsafeMutableRawBufferPointer(start: start, count: count).wipe() }
        unsafe start.deallocate()
      })
  }
}
