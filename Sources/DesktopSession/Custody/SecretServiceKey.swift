public import StateRestoration

/// The device key in the user's keyring: GNOME Keyring, KWallet, KeePassXC or whoever else offers the Secret Service.
///
/// The keyring is encrypted under the user's login password. While it is locked the device can't be opened
/// (`locked`); nothing is made anew then. The key crosses the session bus in the
/// clear, as the service's `plain` sessions do: other programs of the same user can ask the keyring for it anyway.
public struct SecretServiceKey: ProtectedDevice.KeyProvider, KeyPlace {
  /// The application whose key it is.
  package let application: String
  /// The text that the keyring's own program shows.
  package let label: String
  /// How long the service may take for everything.
  public var timeout = Duration.seconds(10)
  /// Where the session bus is.
  package var bus = BusAddress.standard

  private static let name = "org.freedesktop.secrets"
  private static let root = "/org/freedesktop/secrets"
  private static let service = "org.freedesktop.Secret.Service"
  private static let collection = "org.freedesktop.Secret.Collection"
  private static let item = "org.freedesktop.Secret.Item"

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - application: Finds the key; the same on every start, such as `com.example.notes`.
  ///   - label: The text for people.
  public init(application: String, label: String) {
    self.application = application
    self.label = label
  }

  /// The provider in words.
  package var place: String { "the Secret Service, as \"\(label)\"" }

  private var attributes: BusArgument {
    .texts([("xdg:schema", "org.state-restoration.DeviceKey"), ("application", application)])
  }

  /// Asks the keyring; `nil` only when it is unlocked and has no such key.
  public func loadKey() throws(ProtectionError) -> ProtectedDevice.Key? {
    try asking { (exchange) throws(ProtectionError) in
      let (found, locked) = try find(exchange)
      guard let first = found.first else {
        guard locked.isEmpty else { throw refusal }
        // A locked keyring may hide its items: only an unlocked one proves that there is none.
        let keyring = try defaultKeyring(exchange)
        if let keyring, try isLocked(keyring, exchange) { throw refusal }
        return nil
      }
      guard found.count == 1 else {
        throw ProtectionError(
          .corrupt, "The keyring has \(found.count) device keys of \(application). Remove the wrong ones.")
      }
      return try secret(of: first, exchange)
    }
  }

  /// Makes a key and keeps it in the default keyring.
  public func makeKey() throws(ProtectionError) -> ProtectedDevice.Key {
    try asking { (exchange) throws(ProtectionError) in
      let (found, locked) = try find(exchange)
      guard found.isEmpty, locked.isEmpty else {
        throw ProtectionError(.alreadyExists, "The keyring has a device key of \(application) already.")
      }
      guard let keyring = try defaultKeyring(exchange) else {
        throw ProtectionError(.io, "There is no default keyring. Make one with the keyring's own program.")
      }
      guard let fresh = SecretBuffer.random(byteCount: ProtectedDevice.Key.byteCount) else {
        throw ProtectionError(.secretsUnavailable, "The system gave no random bytes.")
      }
      let session = try openSession(exchange)
      let properties = BusArgument.options([
        ("\(Self.item).Label", .string(label)), ("\(Self.item).Attributes", attributes),
      ])
      let secret = BusArgument.structure([
        .path(session), .noBytes, .secret(fresh), .string("application/octet-stream"),
      ])
      let reply = try call(
        exchange, keyring, Self.collection, "CreateItem", [properties, secret, .bool(false)], isSensitive: true)
      let made = try text(reply)
      let prompt = try text(reply)
      // The keyring wants the user to be asked, which a program that is being opened can't wait for.
      guard prompt == "/", made != "/" else { throw refusal }
      return try self.secret(of: made, exchange)
    }
  }

  // MARK: - The service

  private var refusal: ProtectionError {
    ProtectionError(.locked, "The keyring is locked. Unlock it, as logging in does, and open the device again.")
  }

  private func asking(
    _ body: (BusExchange) throws(ProtectionError) -> ProtectedDevice.Key?
  ) throws(ProtectionError) -> ProtectedDevice.Key? {
    try body(try exchange())
  }

  private func asking(
    _ body: (BusExchange) throws(ProtectionError) -> ProtectedDevice.Key
  ) throws(ProtectionError) -> ProtectedDevice.Key {
    try body(try exchange())
  }

  private func exchange() throws(ProtectionError) -> BusExchange {
    do throws(BusError) {
      return try BusExchange(.session, at: bus, within: timeout)
    } catch {
      throw unreachable(error)
    }
  }

  private func unreachable(_ error: BusError) -> ProtectionError {
    if error.name == "org.freedesktop.Secret.Error.IsLocked" { return refusal }
    return ProtectionError(
      .io, "The Secret Service can't be used: \(error). Start a keyring, as a desktop's session does.", cause: error)
  }

  private func call(
    _ exchange: BusExchange, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument],
    isSensitive: Bool = false
  ) throws(ProtectionError) -> BusMessage {
    do throws(BusError) {
      return try exchange.call(
        BusCall(
          destination: Self.name, path: path, interface: interface, member: member, arguments: arguments,
          startsService: true, isSensitive: isSensitive))
    } catch {
      throw unreachable(error)
    }
  }

  private func reading<R>(_ body: () throws(BusError) -> R) throws(ProtectionError) -> R {
    do throws(BusError) { return try body() } catch { throw unreachable(error) }
  }

  private func text(_ message: BusMessage) throws(ProtectionError) -> String {
    try reading { () throws(BusError) in try message.string("o") }
  }

  private func find(_ exchange: BusExchange) throws(ProtectionError) -> (unlocked: [String], locked: [String]) {
    let reply = try call(exchange, Self.root, Self.service, "SearchItems", [attributes])
    return try reading { () throws(BusError) in (try reply.strings("o"), try reply.strings("o")) }
  }

  private func defaultKeyring(_ exchange: BusExchange) throws(ProtectionError) -> String? {
    let path = try text(try call(exchange, Self.root, Self.service, "ReadAlias", [.string("default")]))
    return path == "/" ? nil : path
  }

  private func isLocked(_ keyring: String, _ exchange: BusExchange) throws(ProtectionError) -> Bool {
    let reply = try call(
      exchange, keyring, "org.freedesktop.DBus.Properties", "Get", [.string(Self.collection), .string("Locked")])
    return try reading { () throws(BusError) in try reply.variant() } != .bool(false)
  }

  private func openSession(_ exchange: BusExchange) throws(ProtectionError) -> String {
    let reply = try call(exchange, Self.root, Self.service, "OpenSession", [.string("plain"), .variant(.string(""))])
    return try reading { () throws(BusError) in
      _ = try reply.variant()
      return try reply.string("o")
    }
  }

  private func secret(of path: String, _ exchange: BusExchange) throws(ProtectionError) -> ProtectedDevice.Key {
    let session = try openSession(exchange)
    let reply = try call(exchange, path, Self.item, "GetSecret", [.path(session)])
    let bytes = try reading { () throws(BusError) in
      guard try reply.enter("r", "oayays") else { throw .malformed("a secret") }
      _ = try reply.string("o")
      _ = try reply.secret()
      return try reply.secret()
    }
    guard bytes.count == ProtectedDevice.Key.byteCount else {
      throw ProtectionError(.corrupt, "The keyring's device key has another length. Put the right one back.")
    }
    return try bytes.deviceKey(byteCount: bytes.count)
  }
}
