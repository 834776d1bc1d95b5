/// Why a call or a connection on a message bus failed.
struct BusError: Error, Sendable, CustomStringConvertible {
  /// The name of the peer's error, such as `org.freedesktop.DBus.Error.NoReply`; nil for a failure of this side.
  var name: String?
  /// The system's number; zero when a peer answered with an error.
  var errno: Int32
  /// The failed operation, in words.
  var message: String

  /// A function of libsystemd returned a negative number.
  static func failed(_ what: String, _ result: Int32) -> BusError {
    BusError(name: nil, errno: -result, message: "\(what) (errno \(-result))")
  }

  /// A message has other contents than its documentation says.
  static func malformed(_ what: String) -> BusError {
    BusError(name: nil, errno: 74, message: "\(what) is not what its interface promises")
  }

  /// Nothing answered in time.
  static func timedOut(_ what: String) -> BusError {
    BusError(name: nil, errno: 110, message: "\(what) was not answered in time")
  }

  /// Whether the service is not there, as opposed to not answering.
  var isAbsentService: Bool {
    switch name {
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner": true
    default: false
    }
  }

  /// The peer's error name where there is one, and the operation.
  var description: String { name.map { "\(message): \($0)" } ?? message }
}
