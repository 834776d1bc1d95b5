extension ProtectedDevice {
  /// How a device behaves where there is a choice.
  public struct Options: Sendable {
    /// How long `complete` files stay available after a lock begins; zero locks at once.
    public var gracePeriod: Duration = .seconds(10)
    /// Whether ten wrong passcodes in a row erase the device.
    public var erasesAfterTenWrongPasscodes = false
    /// Whether a directory on a network volume is taken all the same; locks and syncs may not mean much there.
    public var allowsNetworkVolumes = false
    /// Whether archives are refused, rather than reported as unverifiable, when their ledger was lost.
    public var refusesUnverifiableArchives = false
    /// How long to wait for another process before `busy`.
    package var patience: Duration = .seconds(5)
    /// How long a lock waits until its custody has forgotten the keys.
    package var custodyPatience: Duration = .seconds(1)
    /// Where the device key is kept; `nil` for a file of its own in the device's directory.
    public var keyProvider: (any ProtectedDevice.KeyProvider)?
    /// Who keeps the class keys when the process ends; `nil` for nobody: a new process starts as after a reboot.
    public var custody: (any ProtectedDevice.KeyCustody)?

    /// The choices that are made by default.
    public init() {}
  }
}

extension ProtectedDevice.Options {
  /// What the stores have to know.
  var store: StoreOptions {
    StoreOptions(
      allowsNetworkVolumes: allowsNetworkVolumes, refusesUnverifiableArchives: refusesUnverifiableArchives,
      patience: patience)
  }
}
