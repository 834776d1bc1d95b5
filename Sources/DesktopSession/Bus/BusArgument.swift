/// A value to send in a call.
indirect enum BusArgument: Sendable {
  case string(String)
  case path(String)
  case uint32(UInt32)
  case bool(Bool)
  /// A dictionary of text to text.
  case texts([(String, String)])
  /// A dictionary of text to variants.
  case options([(String, BusArgument)])
  case variant(BusArgument)
  case structure([BusArgument])
  /// Bytes that are wiped with their box.
  case secret(SecretBuffer)
  /// No bytes.
  case noBytes

  /// The value's type as D-Bus writes it.
  var signature: String {
    switch self {
    case .string: "s"
    case .path: "o"
    case .uint32: "u"
    case .bool: "b"
    case .texts: "a{ss}"
    case .options: "a{sv}"
    case .variant: "v"
    case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
    case .secret, .noBytes: "ay"
    }
  }
}
