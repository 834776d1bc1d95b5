/// Time that runs while the machine sleeps, and which start of the machine it belongs to.
///
/// Nobody can set the time since the start, but an ordinary user can make a time namespace in which it is shifted.
package protocol BootClock: Sendable {
  /// The time since the machine was started.
  var elapsed: Duration { get }
  /// 16 bytes that are new at every start.
  var bootIdentifier: [UInt8] { get }
  /// The time of day, as a second witness: setting it takes a privilege, and no time namespace shifts it.
  var timeOfDay: Duration { get }
}

extension BootClock {
  /// The one clock there is.
  package var timeOfDay: Duration { elapsed }
}
