/// A controller that draws itself into a part of the terminal and takes keys.
@MainActor protocol Screen: AnyObject {
  /// The title above it.
  var title: String { get }

  /// The keys it knows, for the footer: the key and what it does.
  var hints: [Hint] { get }

  /// Whether its text must not be seen in a snapshot.
  var isSensitive: Bool { get }

  /// Draws itself.
  ///
  /// - Parameters:
  ///   - canvas: The whole screen.
  ///   - area: The part that belongs to this controller.
  ///   - isFocused: Whether keys go to it, so that it shows the cursor.
  func draw(into canvas: inout Canvas, area: Canvas.Rectangle, isFocused: Bool)

  /// Takes a key.
  ///
  /// - Returns: Whether the key meant anything here; otherwise it goes to the parent.
  func handle(_ key: Key) -> Bool

  /// Draws what may be seen while the device is locked.
  ///
  /// - Parameters:
  ///   - canvas: The whole screen.
  ///   - area: The part that belongs to this controller.
  ///   - lockRows: How many rows the lock needs.
  /// - Returns: The part that the lock stands over.
  func drawLocked(into canvas: inout Canvas, area: Canvas.Rectangle, lockRows: Int) -> Canvas.Rectangle

  /// Takes an arrow or a paging key while the device is locked.
  func handleLocked(_ key: Key)
}

extension Screen {
  var hints: [Hint] { [] }
  var isSensitive: Bool { true }
  func drawLocked(into canvas: inout Canvas, area: Canvas.Rectangle, lockRows: Int) -> Canvas.Rectangle { area }
  func handleLocked(_ key: Key) {}
}

/// A key and what it does, as the footer shows it.
struct Hint: Hashable, Sendable {
  var key: String
  var meaning: String

  init(_ key: String, _ meaning: String) {
    self.key = key
    self.meaning = meaning
  }
}
