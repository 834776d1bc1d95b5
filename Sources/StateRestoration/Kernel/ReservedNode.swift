internal import RestorationArchive

/// The framework's own names at the top of an archive.
enum ReservedNode {
  /// Holds the app-level state.
  static let application: RestorationIdentifier = "$application"
  /// Holds the registered shared objects.
  static let shared: RestorationIdentifier = "$shared"

  /// The name under which an archive stores a root: its own, unless that looks like one of these.
  static func stored(_ root: RestorationIdentifier) -> RestorationIdentifier {
    isLikeReserved(root) ? RestorationIdentifier("$" + root.rawValue) : root
  }

  /// The root's own name, for the name under which an archive stores it.
  static func original(_ stored: RestorationIdentifier) -> RestorationIdentifier {
    stored.rawValue.hasPrefix("$$") && isLikeReserved(stored)
      ? RestorationIdentifier(String(stored.rawValue.dropFirst())) : stored
  }

  /// The name in reports of a row that can't be read while the device is locked.
  static func hole(_ row: NodeID) -> RestorationIdentifier {
    RestorationIdentifier("(locked \(String(row.rawValue, radix: 16)))")
  }

  /// A name for the time being, that no object has, whatever its own is made of.
  static func temporary(_ purpose: String, _ number: Int) -> RestorationIdentifier {
    RestorationIdentifier("$\(purpose)-\(unguessable)-\(number)")
  }

  private static let unguessable = UInt64.random(in: .min ... .max)

  private static func isLikeReserved(_ identifier: RestorationIdentifier) -> Bool {
    guard identifier.rawValue.hasPrefix("$") else { return false }
    let bare = RestorationIdentifier("$" + identifier.rawValue.drop { $0 == "$" })
    return bare == application || bare == shared
  }
}
