extension RestorationArchive {
  /// The kind of interface the state was preserved from, such as a desktop or a terminal.
  ///
  /// State of one idiom may not fit another; the delegate can compare it before restoring. Programs may add their own.
  public struct InterfaceIdiom: RestorationArchive.ExactText {
    /// The idiom's name, as stored.
    public let rawValue: String

    /// Makes an idiom of any name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Windows on a desktop.
    public static let desktop = RestorationArchive.InterfaceIdiom(rawValue: "desktop")
    /// A text terminal.
    public static let terminal = RestorationArchive.InterfaceIdiom(rawValue: "terminal")
    /// One program that owns the whole screen.
    package static let kiosk = RestorationArchive.InterfaceIdiom(rawValue: "kiosk")
    /// Not stated.
    public static let unspecified = RestorationArchive.InterfaceIdiom(rawValue: "unspecified")
  }
}
