public import Observation
public import RestorationArchive

/// A window: its content, its frame, and whether it fills the screen.
///
/// Tell it the ``screens`` before restoring: a window that was on a screen which is gone comes back on one that is there.
@Observable @MainActor open class WindowController: ContainerController {
  /// The controller in the window.
  public var content: (any RestorableController)?

  /// The window's place and size; nil until it has been shown.
  public var frame: WindowFrame?

  /// Whether the window fills its screen; ``frame`` is where it goes when it stops.
  public var isFullScreen = false

  /// The screens there are now; with none, frames are restored as they were.
  @ObservationIgnored public var screens: [WindowFrame] = []

  /// Makes a window.
  ///
  /// - Parameters:
  ///   - restorationIdentifier: The name among its siblings; nil excludes it and everything in it.
  ///   - restorationClass: The registered class that remakes it; nil if it exists at launch.
  ///   - content: The controller in it.
  ///   - screens: The screens there are now.
  public init(
    restorationIdentifier: RestorationIdentifier?, restorationClass: RestorationClass? = nil,
    content: (any RestorableController)? = nil, screens: [WindowFrame] = []
  ) {
    self.content = content
    self.screens = screens
    super.init(restorationIdentifier: restorationIdentifier, restorationClass: restorationClass)
  }

  /// The content, if there is one.
  open override var containedControllers: [any RestorableController] { content.map { [$0] } ?? [] }

  /// Preserves frame and full screen.
  open override func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(frame, forKey: "window.frame")
    coder.encode(isFullScreen, forKey: "window.isFullScreen")
  }

  /// Puts the window where it was, or where the user can reach it.
  open override func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    if let stored = try coder.decodeIfPresent(WindowFrame?.self, forKey: "window.frame") ?? nil {
      frame = stored.visible(on: screens)
    }
    isFullScreen = try coder.decodeIfPresent(Bool.self, forKey: "window.isFullScreen") ?? isFullScreen
  }

  /// Takes the content back, if it could be restored: what was in the window last.
  open override func install(_ children: [RestoredChild]) {
    if let controller = children.newest { content = controller }
  }
}
