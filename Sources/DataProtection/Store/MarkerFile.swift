/// What a slot's marker file holds: the marker of the last attempt, and perhaps behind it that of an older generation.
///
/// The marker of a generation that was asked for by name stays behind those of others: restoring the newest in between must
/// not make the next launch try what it has died of once more.
struct MarkerFile {
  /// The longest file.
  static let maximumByteCount = 2 * CrashMarker.byteCount

  /// The marker of the last attempt, which is overwritten in place.
  var marker: CrashMarker
  /// The marker of an attempt on request that ended badly, and was the last one before others.
  var requested: CrashMarker?

  /// Has an attempt at an archive begin in place of the last one.
  init(_ marker: CrashMarker, after former: MarkerFile?) {
    self.marker = marker
    let candidates = [former?.marker, former?.requested].compactMap(\.self)
    requested = candidates.first {
      $0.role == .requested && !$0.isAtRest && !$0.names(marker.commitment)
    }
  }

  /// Reads a file; `nil` when it is damaged or forged.
  ///
  /// What is behind the first marker counts only if it is authentic.
  init?(_ bytes: [UInt8], identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) {
    let parts = [bytes.prefix(CrashMarker.byteCount), bytes.dropFirst(CrashMarker.byteCount)].map(Array.init)
    guard bytes.count == CrashMarker.byteCount || bytes.count == Self.maximumByteCount,
      let marker = try CrashMarker(parts[0], identity: identity, keys: keys)
    else { return nil }
    self.marker = marker
    requested = try CrashMarker(parts[1], identity: identity, keys: keys)
  }

  /// The bytes, authentication codes included.
  func encoded(identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var bytes = try marker.encoded(identity: identity, keys: keys)
    if let requested { bytes += try requested.encoded(identity: identity, keys: keys) }
    return bytes
  }

  /// The marker behind the first, if it is an archive's; a program that restores something else has found it.
  func requested(for archive: some Collection<UInt8>) -> CrashMarker? {
    requested.flatMap { $0.names(archive) ? $0 : nil }
  }
}
