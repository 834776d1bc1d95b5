package import DataProtection
package import FoundationShim

/// The settings of a coordinator, a variable each: facts about the program, and limits.
public struct RestorationConfiguration: Sendable {
  /// The application's identifier; part of the identity of its archives.
  public var application: String
  /// The program's version, recorded in every archive.
  public var applicationVersion: RestorationArchive.ApplicationVersion
  /// The program's own version of what it stores; newer archives are kept, not read.
  public var schemaVersion: StateVersion = 1
  /// The operating system's version, in the program's words.
  public var systemVersion = ""
  /// The version of the user interface, which coders show as `versionTag`: only your delegate compares it.
  public var interfaceVersion: RestorationArchive.VersionTag
  /// The kind of user interface.
  public var interfaceIdiom: RestorationArchive.InterfaceIdiom
  /// The protection class of the archives: of every object that says none of its own, nor one above it.
  public var protection: ProtectionClass = .complete
  /// The protection class of the app-level state; nil for ``protection``.
  public var applicationStateProtection: ProtectionClass?
  /// Older archives are not restored; nil for no limit.
  ///
  /// The age counts from the last save, one while the device was locked included.
  public var maximumAge: Duration?
  /// How often objects whose changes can't be noticed are asked while they are preserved automatically; nil for never.
  ///
  /// A plain property, say, that a coder method reads. Such a change is preserved later than a noticed one by at most this
  /// time; see <doc:StateOfYourOwnClasses>. With nil, and no ``RestorableObject/invalidateRestorableState()``, only saves by
  /// name and the end of the program have it.
  public var askingInterval: Duration? = .seconds(2)
  /// So many closed windows are kept, those that were closed last; the state of the others is deleted.
  public var recentlyClosedLimit = 20
  /// So long a closed window is kept; nil for no limit.
  public var recentlyClosedAge: Duration? = .seconds(30 * 24 * 60 * 60)
  /// An older snapshot is deleted, not shown: after long disuse it would surprise.
  ///
  /// 30 days; nil for no limit.
  public var snapshotLifetime: Duration? = .seconds(30 * 24 * 3600)
  /// Time for asynchronous restoring, after which late answers are ignored.
  public var extensionTimeLimit: Duration = .seconds(30)
  /// Size of one node's record from which on a save warns.
  public var nodeByteBudget = 64 << 10
  /// Size of an archive from which on the lowest priorities are left out.
  public var archiveByteBudget = 64 << 20
  /// The greatest depth of a value in an object's state: levels of objects, lists and dictionaries in each other.
  ///
  /// The state is the first level. An object with a deeper value keeps its earlier state, and the save reports it. Each
  /// level takes up to 2.7 KB of the stack in a debug build; 1 024 levels are the most.
  public var valueDepthLimit = 128
  /// For development: a force quit deletes nothing, and crashes while restoring are not held against the state.
  public var isDeveloperMode = false
  /// The main loop of a program whose main thread isn't Swift's; nil where the main actor gets its turns by itself.
  ///
  /// See <doc:InAProgramThatOwnsItsMainThread>.
  public var mainLoop: RestorationMainLoop?
  /// Whether objects decode last first: the order is not promised, and tests check that nothing depends on it.
  package var decodesInReverse = false
  /// Where the coordinator says what it does; warnings and errors go to standard error unless you give another log.
  public var log: RestorationLog = .standardError
  /// The clock of intervals and time limits.
  package var clock: any Clock<Duration> & Sendable = ContinuousClock()
  /// The wall clock, for the time of saving and for ages.
  package var now: @Sendable () -> Date = { Date() } {
    // A time of day of its own has a machine of its own.
    didSet { bootClock = nil }
  }
  /// The clock of the machine, which nobody sets, for ages within one start of it; nil for none.
  package var bootClock: (any BootClock)? = SystemBootClock.shared {
    didSet { boot = Self.name(ofStart: bootClock) }
  }
  /// The start of the machine as archives name it, empty for none: put into words once, as every capture asks for it.
  private(set) var boot = Self.name(ofStart: SystemBootClock.shared)

  private static func name(ofStart clock: (any BootClock)?) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let identifier = clock?.bootIdentifier ?? []
    return String(decoding: identifier.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Creates a configuration with the usual limits.
  public init(
    application: String = "main", applicationVersion: RestorationArchive.ApplicationVersion = "1.0",
    interfaceVersion: RestorationArchive.VersionTag = "1",
    interfaceIdiom: RestorationArchive.InterfaceIdiom = .unspecified, mainLoop: RestorationMainLoop? = nil
  ) {
    self.application = application
    self.applicationVersion = applicationVersion
    self.interfaceVersion = interfaceVersion
    self.interfaceIdiom = interfaceIdiom
    self.mainLoop = mainLoop
  }
}
