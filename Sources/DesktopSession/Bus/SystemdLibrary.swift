import CDesktop

/// The functions of libsystemd, or of a library with the same calls, found when the program runs.
@safe struct SystemdLibrary: Sendable {
  /// The table is written once, before it is shared, and never changed.
  private nonisolated(unsafe) let table: UnsafePointer<csystemd>

  /// The library of this machine; nil when it has none.
  static let shared: SystemdLibrary? = {
    guard let table = unsafe csystemd_load() else { return nil }
    return unsafe SystemdLibrary(table: table)
  }()

  /// The functions.
  var functions: csystemd {
    @inline(__always) get { unsafe table.pointee }
  }
}
