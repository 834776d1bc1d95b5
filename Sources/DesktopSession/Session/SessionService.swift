/// A service on a bus, as the driver uses it; all calls come on the loop's thread.
protocol SessionService: AnyObject {
  /// The connection to the service.
  var link: ServiceLink { get }

  /// Subscribes to the service's signals, on a new connection.
  func listen() throws(BusError)

  /// The service is there, or another program has taken its place.
  func begin()

  /// The service has ended, or the bus that led to it is gone.
  func ended(withBus isBusLost: Bool)
}
