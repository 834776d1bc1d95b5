public import FoundationShim

extension RestorationCoordinator {
  /// A preserved state that was not restored and that a save has replaced: it is kept beside the newest one.
  ///
  /// It is there until it is restored, discarded, or makes room for newer ones; a receipt or a report says so then.
  public struct SetAsideState: Sendable, Hashable, Codable, Identifiable {
    /// Its number, for ``RestorationCoordinator/Source/setAside(_:)``.
    public var id: UInt64
    /// When it was preserved; nil when that can't be read.
    public var savedAt: Date?
    /// The version of the program that preserved it; nil when that can't be read.
    public var applicationVersion: String?
    /// The schema version of the program that preserved it; nil when that can't be read.
    package var schemaVersion: StateVersion?
    /// Its size without its sealing, in bytes.
    public var byteCount: Int
    /// Whether this program knows its schema, so that it can be restored on request.
    public var isReadable: Bool
    /// Whether it can't be opened at all: nothing but its place is known, and it is the first to make room.
    package var isDamaged = false
  }
}

extension RestorationCoordinator.SetAsideState: CustomStringConvertible {
  /// Which state it is, as a clause.
  public var description: String {
    if isDamaged { return "state \(id), damaged" }
    var text = "state \(id)"
    if let applicationVersion { text += " of version \(applicationVersion)" }
    if let schemaVersion { text += ", schema \(schemaVersion)" }
    text += ", \(ReportText.bytes(byteCount))"
    return isReadable ? text : text + ", not readable by this program"
  }
}
