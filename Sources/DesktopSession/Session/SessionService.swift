/// A service on a bus; all calls come on the loop's thread.
protocol SessionService: AnyObject {
  /// The service's name in the report.
  var service: DesktopSessionReport.Service { get }

  /// The bus answers; the connection stays until ``busWasLost(_:)``.
  func busIsReady(_ connection: BusConnection)

  /// The bus is gone or was never reached.
  func busWasLost(_ reason: String)
}
