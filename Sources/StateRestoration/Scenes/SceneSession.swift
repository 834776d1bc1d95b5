public import FoundationShim

/// One scene (window) of a program, from the first time it is opened until it is discarded.
///
/// A session survives the end of the process; its archive is its own.
public struct SceneSession: Sendable, Hashable, Codable, Identifiable {
  /// Names a session for as long as it exists; compared byte for byte, as its archive is found.
  public struct ID: ExactText {
    /// The name as text; any text, never a path.
    public var rawValue: String

    /// Names a session.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The session of a program that has only one scene.
    public static let main: ID = "main"
  }

  /// Names the session.
  public var id: ID
  /// What kind of scene it is, in the program's own words; empty when there is only one kind.
  public var role: String
  /// What the user calls the scene, as the program said when it closed it; empty when it said nothing.
  public var title: String
  /// When the scene was last active, and later than those before it: the most recent one is restored first.
  package var lastActive: Date
  /// When the scene was closed; nil while it is open in this run, or was when the last run ended.
  public package(set) var closedAt: Date?

  /// True while the scene is open in this run, or was when the last run ended.
  public var isOpen: Bool { closedAt == nil }

  /// Creates a session.
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
  mutating func takeNames(from others: [SceneSession]) {
    guard role.isEmpty || title.isEmpty, let known = others.first(where: { $0.id == id }) else { return }
    if role.isEmpty { role = known.role }
    if title.isEmpty { title = known.title }
  }
}
