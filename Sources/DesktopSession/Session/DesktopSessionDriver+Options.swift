public import StateRestoration

extension DesktopSessionDriver {
  /// How a driver uses the desktop session.
  public struct Options: Sendable {
    /// The program's name, as `systemd-inhibit --list` shows it.
    public var applicationName: String

    /// Whether a blanked screen counts as a locked one.
    ///
    /// A screen saver that asks for no password blanks the screen without locking it. Set this where every blanked screen
    /// locks.
    public var locksWhenBlanked = false

    /// How long preserving may take before the machine sleeps or is switched off.
    ///
    /// The system's own limit (`InhibitDelayMaxUSec`, five seconds by default) bounds it: nine tenths of that are used.
    public var inhibitorBudget = Duration.seconds(5)

    /// How long preserving may take when the session asks whether it may end; the desktop portal waits for one second.
    public var queryEndBudget = Duration.milliseconds(800)

    /// How long a service may take to answer a call.
    public var callTimeout = Duration.seconds(2)

    /// The pauses before a lost bus or service is tried again: the first, and the longest after doubling.
    public var reconnectDelays: ClosedRange<Duration> = .milliseconds(250) ... .seconds(30)

    /// Where the system bus is.
    package var systemBus = BusAddress.standard

    /// Where the session bus is.
    package var sessionBus = BusAddress.standard

    /// Called on the main actor when the session is unlocked, after the program is in the foreground again; not waited for.
    ///
    /// An unlocked screen unlocks no device. A program that keeps its passcode in a keyring asks there, and unlocks the device.
    public var onUnlock: (@MainActor @Sendable () async -> Void)?

    /// Where the driver writes what it does, from any thread.
    public var log: RestorationLog = .silent

    /// Makes options with the usual choices.
    ///
    /// - Parameter applicationName: The program's name for people.
    public init(applicationName: String) {
      self.applicationName = applicationName
    }
  }
}
