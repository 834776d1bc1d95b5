public import FoundationShim

extension Lifecycle {
  /// Why the program is launched.
  public struct LaunchOptions: Sendable, Hashable {
    /// The reasons for a launch.
    public enum Reason: Sendable, Hashable {
      /// The user started the program.
      case icon

      /// Something is to be opened, after restoring.
      case url(URL)

      /// Something is to be done without a window; the name is the program's own.
      case backgroundEvent(String)
    }

    /// Why the program is launched.
    public var reason: Reason

    /// How much of the preserved state comes back.
    public var extent: Lifecycle.LaunchOptions.Extent

    /// Further facts under keys of the driver's choice.
    public var values: [String: String]

    /// Makes the options of a launch, which brings everything back unless told otherwise.
    public init(
      reason: Reason = .icon, extent: Lifecycle.LaunchOptions.Extent = .restore, values: [String: String] = [:]
    ) {
      self.reason = reason
      self.extent = extent
      self.values = values
    }

    /// The user started the program.
    public static let icon = Lifecycle.LaunchOptions()

    /// Something is to be opened, after restoring.
    public static func opening(_ url: URL) -> Lifecycle.LaunchOptions { Lifecycle.LaunchOptions(reason: .url(url)) }

    /// Something is to be done without a window.
    package static func backgroundEvent(_ name: String) -> Lifecycle.LaunchOptions {
      Lifecycle.LaunchOptions(reason: .backgroundEvent(name))
    }

    /// Whether the launch goes into the background.
    package var isBackground: Bool {
      if case .backgroundEvent = reason { true } else { false }
    }

    /// The URL to be opened after restoring.
    package var url: URL? {
      if case .url(let url) = reason { url } else { nil }
    }
  }
}

extension Lifecycle {
  /// What the delegate declines when it sees the launch options.
  public struct LaunchResponse: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Nothing is declined.
    public static let proceed: Lifecycle.LaunchResponse = []

    /// Nothing is restored in this launch; the state is not lost: the first save sets it aside.
    public static let declinesRestoring = Lifecycle.LaunchResponse(rawValue: 1)

    /// The URL is not opened.
    public static let declinesURL = Lifecycle.LaunchResponse(rawValue: 2)
  }
}
