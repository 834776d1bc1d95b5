extension WindowController {
  /// How a window is shown.
  public enum State: String, Hashable, Codable, Sendable, CaseIterable {
    /// At its own place, with its own size.
    case normal
    /// As large as the desktop lets a window be.
    case maximized
    /// Over everything on one screen.
    case fullScreen
    /// Not shown, but there.
    case minimized
  }

  /// The size of a window, in the toolkit's units.
  public struct Size: Hashable, Codable, Sendable {
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Makes a size.
    public init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }

    /// Whether a window can have it.
    var isUsable: Bool { width.isFinite && height.isFinite && width > 0 && height > 0 }

    /// The same size, made smaller if no screen is as large; nil for one that no window can have.
    ///
    /// - Parameter screens: The screens there are now; with none the size stays as it is.
    package func fitting(_ screens: [Frame]) -> Size? {
      guard isUsable else { return nil }
      if screens.isEmpty || screens.contains(where: { width <= $0.width && height <= $0.height }) { return self }
      guard let largest = screens.max(by: { $0.width * $0.height < $1.width * $1.height }) else { return self }
      return Size(width: min(width, largest.width), height: min(height, largest.height))
    }
  }
}
