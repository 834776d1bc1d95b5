public import FoundationShim

extension RestorationArchive {
  /// The circumstances of a save, readable before any node.
  public struct Context: Hashable, Codable, Sendable {
    /// The version of the program that preserved the state.
    public var applicationVersion: RestorationArchive.ApplicationVersion
    /// The program's own version of what it stores, for migrations of the whole.
    public var schemaVersion: StateVersion
    /// The operating system's version, as the program worded it.
    public var systemVersion: String
    /// When the state was preserved.
    ///
    /// Kept to the bit.
    public var timeSaved: Date
    /// The kind of interface the state comes from.
    public var interfaceIdiom: RestorationArchive.InterfaceIdiom
    /// The user interface's version tag; nil when the program has none.
    public var versionTag: RestorationArchive.VersionTag?
    /// The start of the machine in which the state was preserved; empty when the program doesn't ask for ages.
    package var boot = ""
    /// Seconds since that start.
    package var bootSeconds: UInt32 = 0

    /// Makes a context.
    package init(
      applicationVersion: RestorationArchive.ApplicationVersion = "", schemaVersion: StateVersion = 1,
      systemVersion: String = "",
      timeSaved: Date, interfaceIdiom: RestorationArchive.InterfaceIdiom = .unspecified,
      versionTag: RestorationArchive.VersionTag? = nil
    ) {
      self.applicationVersion = applicationVersion
      self.schemaVersion = schemaVersion
      self.systemVersion = systemVersion
      self.timeSaved = timeSaved
      self.interfaceIdiom = interfaceIdiom
      self.versionTag = versionTag
    }
  }
}
