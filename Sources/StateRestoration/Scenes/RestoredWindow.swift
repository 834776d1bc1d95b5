public import FoundationShim

/// A window of a program, as it is known from the first time it is opened until it is discarded.
///
/// It survives the end of the process; its archive is its own. UIKit calls it a scene's session.
public struct RestoredWindow: Sendable, Hashable, Codable, Identifiable {
  /// Names a window for as long as it is known; compared byte for byte, as its archive is found.
  public struct ID: RestorationArchive.ExactText {
    /// The name as text; any text, never a path.
    public var rawValue: String

    /// Names a window.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The window of a program that has only one.
    public static let main: ID = "main"
  }

  /// Names the window.
  public var id: ID
  /// What kind of window it is, in the program's own words; empty when there is only one kind.
  public var role: String
  /// What the user calls it, as the program said when it closed it; empty when it said nothing.
  public var title: String
  /// When it was last active, and later than those before it: the most recent one is restored first.
  package var lastActive: Date
  /// When it was closed; nil while it is open in this run, or was when the last run ended.
  public package(set) var closedAt: Date?

  /// True while it is open in this run, or was when the last run ended.
  public var isOpen: Bool { closedAt == nil }

  /// Creates a window that is known.
  package init(
    id: ID, role: String = "", title: String = "", lastActive: Date = Date(timeIntervalSince1970: 0),
    closedAt: Date? = nil
  ) {
    self.id = id
    self.role = role
    self.title = title
    self.lastActive = lastActive
    self.closedAt = closedAt
  }

  /// Takes the role and the title that the session has in another list, if nobody has named one here.
  mutating func takeNames(from others: [RestoredWindow]) {
    guard role.isEmpty || title.isEmpty, let known = others.first(where: { $0.id == id }) else { return }
    if role.isEmpty { role = known.role }
    if title.isEmpty { title = known.title }
  }
}
