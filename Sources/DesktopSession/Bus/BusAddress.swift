/// Where a message bus is found.
package enum BusAddress: Sendable, Hashable {
  /// The place that the environment names: `DBUS_SYSTEM_BUS_ADDRESS` or `DBUS_SESSION_BUS_ADDRESS`, else the standard one.
  case standard

  /// An address as D-Bus writes it, such as `unix:path=/run/user/1000/bus`.
  case address(String)

  /// The bus is not used.
  case none
}

/// The two buses of a desktop.
enum BusKind: String, Sendable {
  case system, session
}
