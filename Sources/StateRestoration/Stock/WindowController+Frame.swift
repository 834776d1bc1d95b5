extension WindowController {
  /// A rectangle on the desktop, in the toolkit's units: a window's place, or a screen's.
  public struct Frame: Hashable, Codable, Sendable {
    /// The left edge.
    public var x: Double
    /// The top edge; larger is lower.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Makes a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
      self.x = x
      self.y = y
      self.width = width
      self.height = height
    }

    /// How much of a window's top edge must be on a screen for the user to be able to take hold of it.
    private static let grip = 48.0

    /// The same frame if the user can reach it on one of the screens, else moved onto one, and made smaller if it must be.
    ///
    /// A window counts as reachable when 48 units of its top edge are on one screen; that is room for a title bar to
    /// be taken hold of. One that is not goes to the screen that is nearest, whole. A frame without a size, or with numbers that
    /// are not finite, becomes the quarter of the first screen at its origin.
    ///
    /// - Parameter screens: The screens there are now; with none the frame stays as it is.
    package func visible(on screens: [Frame]) -> Frame {
      guard let first = screens.first else { return self }
      guard isUsable, let nearest = screens.min(by: { distance(to: $0) < distance(to: $1) }) else {
        return Frame(x: first.x, y: first.y, width: first.width / 2, height: first.height / 2)
      }
      if screens.contains(where: isReachable(on:)) { return self }
      let width = min(width, nearest.width)
      let height = min(height, nearest.height)
      return Frame(
        x: min(max(x, nearest.x), nearest.x + nearest.width - width),
        y: min(max(y, nearest.y), nearest.y + nearest.height - height), width: width, height: height)
    }

    /// Changes the size, and leaves the place.
    mutating func take(_ size: Size) { (width, height) = (size.width, size.height) }

    /// Whether a window can have it.
    var isUsable: Bool {
      [x, y, width, height].allSatisfy(\.isFinite) && width > 0 && height > 0
    }

    private func isReachable(on screen: Frame) -> Bool {
      let overlap = min(x + width, screen.x + screen.width) - max(x, screen.x)
      return overlap >= min(Self.grip, width) && y >= screen.y && y + min(Self.grip, height) <= screen.y + screen.height
    }

    private func distance(to screen: Frame) -> Double {
      let horizontal = max(screen.x - (x + width), x - (screen.x + screen.width), 0)
      let vertical = max(screen.y - (y + height), y - (screen.y + screen.height), 0)
      return horizontal * horizontal + vertical * vertical
    }
  }
}
