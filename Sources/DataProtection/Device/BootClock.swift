/// Time that runs while the machine sleeps and that nobody can set, and which start of the machine it belongs to.
package protocol BootClock: Sendable {
  /// The time since the machine was started.
  var elapsed: Duration { get }
  /// 16 bytes that are new at every start.
  var bootIdentifier: [UInt8] { get }
}
