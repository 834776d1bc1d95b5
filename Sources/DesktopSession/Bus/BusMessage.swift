import CDesktop
import Glibc

/// A message that was received, read from its beginning; it belongs to the thread that received it.
@safe final class BusMessage {
  private let functions: csystemd
  private let pointer: OpaquePointer

  /// Takes a reference of its own.
  init(_ pointer: OpaquePointer, _ library: SystemdLibrary) {
    functions = library.functions
    unsafe self.pointer = functions.sd_bus_message_ref(pointer)!
  }

  deinit { _ = unsafe functions.sd_bus_message_unref(pointer) }

  /// The unique name of the sender; the bus itself vouches for it.
  var sender: String? { unsafe text(functions.sd_bus_message_get_sender(pointer)) }

  /// The object that a signal comes from.
  var path: String? { unsafe text(functions.sd_bus_message_get_path(pointer)) }

  /// The error that the peer answered with; nil for an answer.
  var error: BusError? {
    guard let error = unsafe functions.sd_bus_message_get_error(pointer), let name = unsafe error.pointee.name else {
      return nil
    }
    // The peer's own words are left out: they may quote anything.
    return unsafe BusError(name: String(cString: name), errno: 0, message: "the call was refused")
  }

  // MARK: - Reading

  /// Reads a string, an object path or a signature.
  func string(_ type: Character = "s") throws(BusError) -> String {
    var value: UnsafePointer<CChar>?
    try unsafe read(type, &value)
    guard let value = unsafe value else { throw .malformed("a string") }
    return unsafe String(cString: value)
  }

  /// Reads an unsigned number of 32 bits.
  func uint32() throws(BusError) -> UInt32 {
    var value: UInt32 = 0
    try unsafe read("u", &value)
    return value
  }

  /// Reads an unsigned number of 64 bits.
  func uint64() throws(BusError) -> UInt64 {
    var value: UInt64 = 0
    try unsafe read("t", &value)
    return value
  }

  /// Reads a truth value.
  func bool() throws(BusError) -> Bool {
    var value: Int32 = 0
    try unsafe read("b", &value)
    return value != 0
  }

  /// Reads a file descriptor and duplicates it; the caller closes it.
  func descriptor() throws(BusError) -> Int32 {
    var value: Int32 = -1
    try unsafe read("h", &value)
    let copy = fcntl(value, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .failed("a descriptor could not be kept", -errno) }
    return copy
  }

  /// Reads bytes into memory that is wiped.
  func secret() throws(BusError) -> SecretBuffer {
    var start: UnsafeRawPointer?
    var count = 0
    try check(unsafe functions.sd_bus_message_read_array(pointer, Self.code("y"), &start, &count), "bytes")
    return unsafe SecretBuffer(copying: UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Reads an array of strings or object paths.
  func strings(_ type: Character) throws(BusError) -> [String] {
    guard try enter("a", String(type)) else { throw .malformed("a list") }
    var values: [String] = []
    while try peek() != nil { values.append(try string(type)) }
    try leave()
    return values
  }

  /// Reads a dictionary of text to variants; values of types that nobody here uses are left out.
  func options() throws(BusError) -> [String: BusValue] {
    guard try enter("a", "{sv}") else { throw .malformed("a dictionary") }
    var values: [String: BusValue] = [:]
    while try enter("e", "sv") {
      let key = try string()
      values[key] = try variant()
      try leave()
    }
    try leave()
    return values
  }

  /// Reads a variant; nil for a type that nobody here uses.
  func variant() throws(BusError) -> BusValue? {
    guard let contents = try peek()?.contents, try enter("v", contents) else { throw .malformed("a variant") }
    let value: BusValue?
    switch contents {
    case "b": value = .bool(try bool())
    case "u": value = .number(UInt64(try uint32()))
    case "t": value = .number(try uint64())
    case "s", "o": value = .text(try string(Character(contents)))
    case "(so)":
      guard try enter("r", "so") else { throw .malformed("a pair") }
      _ = try string()
      value = .text(try string("o"))
      try leave()
    default:
      value = nil
      try check(unsafe functions.sd_bus_message_skip(pointer, contents), "a value")
    }
    try leave()
    return value
  }

  /// Enters a container; false at the end of an array.
  func enter(_ type: Character, _ contents: String) throws(BusError) -> Bool {
    try check(unsafe functions.sd_bus_message_enter_container(pointer, Self.code(type), contents), "a container") > 0
  }

  /// Leaves a container.
  func leave() throws(BusError) {
    try check(unsafe functions.sd_bus_message_exit_container(pointer), "a container")
  }

  /// The type of the next value; nil at the end of a container.
  private func peek() throws(BusError) -> (type: Character, contents: String?)? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    let result = try check(unsafe functions.sd_bus_message_peek_type(pointer, &type, &contents), "a value")
    guard result > 0 else { return nil }
    return (Character(UnicodeScalar(UInt8(bitPattern: type))), unsafe text(contents))
  }

  private func read<T>(_ type: Character, _ value: UnsafeMutablePointer<T>) throws(BusError) {
    // Zero is the end of the message: there is less in it than its interface promises.
    let result = try check(unsafe functions.sd_bus_message_read_basic(pointer, Self.code(type), value), "a value")
    guard result > 0 else { throw .malformed("a message") }
  }

  @discardableResult
  private func check(_ result: Int32, _ what: String) throws(BusError) -> Int32 {
    guard result >= 0 else { throw .malformed(what) }
    return result
  }

  private func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(cString: pointer)
  }

  static func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue ?? 0) }
}

/// A value of a variant.
enum BusValue: Sendable, Equatable {
  case bool(Bool)
  case number(UInt64)
  case text(String)
}
