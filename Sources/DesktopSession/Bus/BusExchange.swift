import Glibc

/// Calls on a connection of its own, one after another, all of them before one deadline; blocks the calling thread.
final class BusExchange {
  private let connection: BusConnection
  private let deadline: MonotonicTime

  /// Connects.
  init(_ kind: BusKind, at address: BusAddress, within budget: Duration) throws(BusError) {
    deadline = .now + budget
    guard let connection = try BusConnection(kind, at: address, timeout: budget) else {
      throw BusError(name: nil, errno: ENOENT, message: "the \(kind.rawValue) bus is not to be used")
    }
    self.connection = connection
  }

  /// Calls a method and waits for the answer.
  func call(_ call: BusCall) throws(BusError) -> BusMessage {
    var result: Result<BusMessage, BusError>?
    connection.send(call, timeout: deadline.since(.now)) { result = $0 }
    while true {
      if let result { return try result.get() }
      try connection.process()
      if let result { return try result.get() }
      let now = MonotonicTime.now
      guard now < deadline else { throw .timedOut("\(call.member) of \(call.destination)") }
      var descriptor = connection.descriptor
      let wake = connection.deadline.map { min(MonotonicTime(microseconds: $0), deadline) } ?? deadline
      _ = unsafe poll(&descriptor, 1, wake.pollTimeout(from: now))
    }
  }
}
