extension Lifecycle {
  /// Something that happened in the system and that a program may want to know.
  public struct Notification: Sendable, Hashable, CustomStringConvertible {
    /// What a notification is about; a driver can have kinds of its own.
    public struct Kind: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
      /// The kind's name.
      public let description: String

      /// Makes a kind from its name.
      package init(_ description: String) { self.description = description }

      /// Makes a kind from its name.
      public init(stringLiteral value: String) { self.init(value) }

      /// Whether protected files are readable: a change between `available` and `unavailable`.
      public static let protectedData: Kind = "protectedData"

      /// Midnight, a new time zone or a clock set anew.
      public static let significantTimeChange: Kind = "significantTimeChange"

      /// The settings of the program were changed elsewhere.
      public static let settings: Kind = "settings"

      /// The user's locale: a change of its identifier.
      public static let locale: Kind = "locale"
    }

    /// What there is to say beyond the kind.
    public enum Content: Sendable, Hashable {
      /// It happened; how often doesn't matter.
      case occurrence

      /// A value changed; only the first and the last of several changes matter.
      case change(from: String, to: String)
    }

    /// What the notification is about.
    public let kind: Kind

    /// What there is to say beyond the kind.
    public let content: Content

    /// Makes a notification.
    public init(_ kind: Kind, _ content: Content = .occurrence) {
      self.kind = kind
      self.content = content
    }

    /// Protected files become readable or unreadable.
    package static func protectedData(isAvailable: Bool) -> Lifecycle.Notification {
      Lifecycle.Notification(
        .protectedData,
        isAvailable
          ? .change(from: "unavailable", to: "available") : .change(from: "available", to: "unavailable"))
    }

    /// The kind, and the change where it is one.
    public var description: String {
      switch content {
      case .occurrence: "\(kind)"
      case .change(let from, let to): "\(kind): \(from) → \(to)"
      }
    }
  }
}
