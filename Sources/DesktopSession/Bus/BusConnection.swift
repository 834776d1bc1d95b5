import CDesktop
import Glibc

/// A connection to a message bus that never blocks; it belongs to one thread.
///
/// Answers and signals arrive inside ``process()``. A connection that fails says so there, and is of no use afterwards.
@safe final class BusConnection {
  private let library: SystemdLibrary
  private let functions: csystemd
  private let bus: OpaquePointer
  private var receivers: [ObjectIdentifier: Receiver] = [:]

  /// Begins to connect; the bus has not answered when this returns.
  ///
  /// - Parameter timeout: How long the bus may take to accept a subscription.
  /// - Returns: nil for a bus that is not to be used.
  init?(_ kind: BusKind, at address: BusAddress, timeout: Duration) throws(BusError) {
    if address == .none { return nil }
    guard let library = SystemdLibrary.shared else {
      throw BusError(
        name: nil, errno: ENOENT, message: "libsystemd is missing; install libsystemd0 or libelogind0")
    }
    let functions = library.functions
    var bus: OpaquePointer?
    var result: Int32 = 0
    switch (address, kind) {
    case (.address(let text), _):
      result = unsafe functions.sd_bus_new(&bus)
      if result >= 0 { result = unsafe functions.sd_bus_set_address(bus, text) }
      if result >= 0 { result = unsafe functions.sd_bus_set_bus_client(bus, 1) }
      if result >= 0 { result = unsafe functions.sd_bus_negotiate_fds(bus, 1) }
      if result >= 0 { result = unsafe functions.sd_bus_start(bus) }
    case (_, .system): result = unsafe functions.sd_bus_open_system(&bus)
    case (_, .session): result = unsafe functions.sd_bus_open_user(&bus)
    }
    if result >= 0 { result = unsafe functions.sd_bus_set_method_call_timeout(bus, timeout.busMicroseconds) }
    guard result >= 0, let bus = unsafe bus else {
      if let bus = unsafe bus { _ = unsafe functions.sd_bus_close_unref(bus) }
      throw .failed("the \(kind.rawValue) bus could not be reached", result)
    }
    self.library = library
    self.functions = functions
    unsafe self.bus = bus
  }

  deinit {
    // The receivers' slots hold the connection, and their data is freed with them.
    for receiver in receivers.values { receiver.drop(functions) }
    _ = unsafe functions.sd_bus_close_unref(bus)
  }

  // MARK: - Events

  /// Whether the bus has greeted this connection.
  var isReady: Bool { unsafe functions.sd_bus_is_ready(bus) > 0 }

  /// This connection's name on the bus; nil before it is ready.
  var uniqueName: String? {
    var name: UnsafePointer<CChar>?
    guard isReady, unsafe functions.sd_bus_get_unique_name(bus, &name) >= 0, let name = unsafe name else { return nil }
    return unsafe String(cString: name)
  }

  /// What to wait for before the next ``process()``.
  var descriptor: pollfd {
    let events = unsafe functions.sd_bus_get_events(bus)
    return pollfd(
      fd: unsafe functions.sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: max(events, 0)), revents: 0)
  }

  /// When ``process()`` is due at the latest, in microseconds of the monotonic clock; nil when nothing is pending.
  var deadline: UInt64? {
    var time = UInt64.max
    guard unsafe functions.sd_bus_get_timeout(bus, &time) > 0, time != .max else { return nil }
    return time
  }

  /// Reads, writes and calls receivers until there is nothing to do without waiting.
  ///
  /// - Throws: What ended the connection.
  func process() throws(BusError) {
    // A peer that floods the connection gets a turn, not the thread.
    for _ in 0..<1000 {
      let result = unsafe functions.sd_bus_process(bus, nil)
      guard result >= 0 else { throw .failed("the connection was lost", result) }
      if result == 0 { return }
    }
  }

  // MARK: - Calls and signals

  /// Calls a method; the answer, an error or the end of the time comes to the receiver, once.
  func send(_ call: BusCall, timeout: Duration, _ reply: @escaping (Result<BusMessage, BusError>) -> Void) {
    do throws(BusError) {
      let message = try unsafe call.message(on: bus, functions)
      defer { _ = unsafe functions.sd_bus_message_unref(message) }
      let receiver = Receiver(library) { [weak self] receiver, message in
        self?.receivers[ObjectIdentifier(receiver)] = nil
        reply(message.error.map { .failure($0.describing(call)) } ?? .success(message))
      }
      var slot: OpaquePointer?
      let result = unsafe functions.sd_bus_call_async(
        bus, &slot, message, Receiver.handler, receiver.data, timeout.busMicroseconds)
      guard result >= 0 else { throw .failed("\(call.member) could not be sent", result) }
      unsafe receiver.slot = slot
      receivers[ObjectIdentifier(receiver)] = receiver
    } catch {
      reply(.failure(error))
    }
  }

  /// Has signals that fit a rule delivered for as long as the connection lives.
  ///
  /// The connection ends when the bus refuses the rule or does not answer: without it, announcements would be missed.
  func subscribe(_ rule: String, _ body: @escaping (BusMessage) -> Void) throws(BusError) {
    let receiver = Receiver(library) { _, message in body(message) }
    var slot: OpaquePointer?
    let result = unsafe functions.sd_bus_add_match_async(bus, &slot, rule, Receiver.handler, nil, receiver.data)
    guard result >= 0 else { throw .failed("signals could not be subscribed to", result) }
    unsafe receiver.slot = slot
    receivers[ObjectIdentifier(receiver)] = receiver
  }

  /// A closure behind a C callback, and the slot that calls it.
  @safe private final class Receiver {
    private let library: SystemdLibrary
    private let body: (Receiver, BusMessage) -> Void
    var slot: OpaquePointer?

    init(_ library: SystemdLibrary, _ body: @escaping (Receiver, BusMessage) -> Void) {
      self.library = library
      self.body = body
    }

    /// Not retained: the connection keeps the receiver for as long as the slot exists.
    var data: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    func drop(_ functions: csystemd) {
      if let slot = unsafe slot { _ = unsafe functions.sd_bus_slot_unref(slot) }
      unsafe slot = nil
    }

    deinit { drop(library.functions) }

    static let handler: csystemd_handler = { message, data, _ in
      guard let message = unsafe message, let data = unsafe data else { return 0 }
      let receiver = unsafe Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue()
      unsafe receiver.body(receiver, BusMessage(message, receiver.library))
      return 0
    }
  }
}

extension BusError {
  /// The same error with the call that met it.
  func describing(_ call: BusCall) -> BusError {
    var error = self
    error.message = "\(call.member) of \(call.destination) was refused"
    if name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Timeout" {
      error.message = "\(call.member) of \(call.destination) was not answered in time"
    }
    return error
  }
}
