import CDesktop

/// A method call, before it is sent.
struct BusCall: Sendable {
  var destination: String
  var path: String
  var interface: String
  var member: String
  var arguments: [BusArgument] = []
  /// Whether the bus may start the service.
  var startsService = false
  /// Whether the message is wiped when it is freed.
  var isSensitive = false

  /// The call of a method of the bus itself.
  static func bus(_ member: String, _ arguments: [BusArgument]) -> BusCall {
    BusCall(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
      member: member, arguments: arguments)
  }

  /// The call that reads a property.
  static func property(
    _ name: String, of interface: String, at path: String, on destination: String
  ) -> BusCall {
    BusCall(
      destination: destination, path: path, interface: "org.freedesktop.DBus.Properties", member: "Get",
      arguments: [.string(interface), .string(name)])
  }

  /// Writes the message; the caller frees it.
  func message(on bus: OpaquePointer, _ functions: csystemd) throws(BusError) -> OpaquePointer {
    var message: OpaquePointer?
    let result = unsafe functions.sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
    guard result >= 0, let message = unsafe message else { throw .failed("\(member) could not be called", result) }
    do throws(BusError) {
      try check(unsafe functions.sd_bus_message_set_auto_start(message, startsService ? 1 : 0))
      if isSensitive { try check(unsafe functions.sd_bus_message_sensitive(message)) }
      for argument in arguments { try unsafe append(argument, to: message, functions) }
      return unsafe message
    } catch {
      _ = unsafe functions.sd_bus_message_unref(message)
      throw error
    }
  }

  private func append(
    _ argument: BusArgument, to message: OpaquePointer, _ functions: csystemd
  ) throws(BusError) {
    func basic(_ type: Character, _ value: UnsafeRawPointer) throws(BusError) {
      try check(unsafe functions.sd_bus_message_append_basic(message, BusMessage.code(type), value))
    }
    func container(_ type: Character, _ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
      try check(unsafe functions.sd_bus_message_open_container(message, BusMessage.code(type), contents))
      try body()
      try check(unsafe functions.sd_bus_message_close_container(message))
    }
    func text(_ type: Character, _ value: String) throws(BusError) {
      let result = unsafe value.withCString {
        unsafe functions.sd_bus_message_append_basic(message, BusMessage.code(type), $0)
      }
      try check(result)
    }
    func dictionary(
      _ contents: String, _ entries: [(String, BusArgument)]
    ) throws(BusError) {
      try container("a", "{\(contents)}") { () throws(BusError) in
        for (key, value) in entries {
          try container("e", contents) { () throws(BusError) in
            try text("s", key)
            try unsafe append(value, to: message, functions)
          }
        }
      }
    }
    switch argument {
    case .string(let value): try text("s", value)
    case .path(let value): try text("o", value)
    case .uint32(var value): try unsafe basic("u", &value)
    case .bool(let value):
      var number: Int32 = value ? 1 : 0
      try unsafe basic("b", &number)
    case .texts(let entries): try dictionary("ss", entries.map { ($0.0, .string($0.1)) })
    case .options(let entries): try dictionary("sv", entries.map { ($0.0, .variant($0.1)) })
    case .variant(let value):
      try container("v", value.signature) { () throws(BusError) in try unsafe append(value, to: message, functions) }
    case .structure(let fields):
      try container("r", fields.map(\.signature).joined()) { () throws(BusError) in
        for field in fields { try unsafe append(field, to: message, functions) }
      }
    case .secret(let buffer):
      let result = unsafe buffer.withMemory {
        unsafe functions.sd_bus_message_append_array(message, BusMessage.code("y"), $0.baseAddress, $0.count)
      }
      try check(result)
    case .noBytes: try check(unsafe functions.sd_bus_message_append_array(message, BusMessage.code("y"), nil, 0))
    }
  }

  private func check(_ result: Int32) throws(BusError) {
    guard result >= 0 else { throw .failed("\(member) could not be written", result) }
  }
}
