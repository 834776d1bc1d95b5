public import Observation

/// A window: its content, its place and size, and whether it is maximized, fills the screen or is minimized.
///
/// Tell it the ``screens`` before restoring, and whenever they change: a window that was on a screen which is gone is shown on
/// one that is there, and is back where the user put it once its screen is.
/// Mirror the toolkit's window with ``windowDidChange(to:frame:)`` or, where a program can't know its windows' places (Wayland),
/// with ``windowDidChange(to:size:)``.
@Observable @MainActor open class WindowController: ContainerController {
  /// The controller in the window.
  public var content: (any RestorableController)?

  /// The window's place and size while it is normal; nil until it has been shown, or where places can't be known.
  ///
  /// In every other state it stays what it was: there the window goes when it is normal again. What is preserved is the
  /// place that it was given last; where that is on no screen, this is the one where the window is shown meanwhile.
  public var frame: Frame? {
    get { shownFrame }
    set {
      guard newValue != shownFrame else { return }
      (givenFrame, shownFrame) = (newValue, newValue)
    }
  }

  /// The window's size while it is normal; known also where ``frame`` is not.
  public var size: Size? {
    get { shownSize }
    set {
      guard newValue != shownSize else { return }
      (givenSize, shownSize) = (newValue, newValue)
    }
  }

  /// The place that the user or the program has given the window last.
  private var givenFrame: Frame?
  /// That place, or where the window has to be shown instead.
  private var shownFrame: Frame?
  /// The size that the user or the program has given the window last.
  private var givenSize: Size?
  /// That size, or as much of it as fits a screen.
  private var shownSize: Size?

  /// How the window is shown.
  public var state = State.normal {
    didSet { if state != .minimized { shownState = state } }
  }

  /// The state in which a minimized window comes back; that of any other window is ``state``.
  public private(set) var shownState = State.normal

  /// The screens there are now; with none, frames are restored as they were.
  ///
  /// Assign them whenever they change: a window that has lost its screen gets a ``frame`` on another one, and its own back.
  @ObservationIgnored public var screens: [Frame] = [] {
    didSet { if screens != oldValue { show() } }
  }

  /// Makes a window.
  ///
  /// - Parameters:
  ///   - restoration: What it is called among its siblings, and which class remakes it.
  ///   - content: The controller in it.
  ///   - screens: The screens there are now.
  public init(
    _ restoration: RestorationIdentity,
    content: (any RestorableController)? = nil, screens: [Frame] = []
  ) {
    self.content = content
    self.screens = screens
    super.init(restoration)
  }

  /// The content, if there is one.
  override open var containedControllers: [any RestorableController] { content.map { [$0] } ?? [] }

  /// Its children; none of a window that is minimized.
  override open var visibleControllers: [any RestorableController] {
    state == .minimized ? [] : super.visibleControllers
  }

  /// Notes how the toolkit's window is shown, and its frame if that is the normal one.
  ///
  /// A frame other than ``frame`` is where the user has put the window.
  ///
  /// - Parameters:
  ///   - state: How it is shown now.
  ///   - frame: Its present frame; that of a window which is not normal is not kept.
  public func windowDidChange(to state: State, frame: Frame) {
    windowDidChange(to: state, size: Size(width: frame.width, height: frame.height))
    if state == .normal, frame.isUsable { self.frame = frame }
  }

  /// Notes how the toolkit's window is shown, and its size if that is the normal one.
  ///
  /// - Parameters:
  ///   - state: How it is shown now.
  ///   - size: Its present size; that of a window which is not normal is not kept.
  public func windowDidChange(to state: State, size: Size) {
    if self.state != state { self.state = state }
    guard state == .normal, size.isUsable, self.size != size else { return }
    self.size = size
    givenFrame?.take(size)
    shownFrame?.take(size)
  }

  /// Notes where the desktop has shown the window by itself, which need not be the ``frame`` that it was asked for.
  ///
  /// That is no place that the user has given it: the next launch asks for the former one.
  public func windowWasShown(at frame: Frame) {
    guard frame.isUsable else { return }
    if givenFrame == nil { givenFrame = frame }
    if givenSize == nil { givenSize = Size(width: frame.width, height: frame.height) }
    shownFrame = frame
    shownSize = Size(width: frame.width, height: frame.height)
  }

  /// Shows the window where it was put, as far as the screens allow.
  private func show() {
    if let givenFrame { shownFrame = givenFrame.visible(on: screens) }
    shownSize = givenSize?.fitting(screens)
    if let shownFrame { shownSize = Size(width: shownFrame.width, height: shownFrame.height) }
  }

  /// Preserves state, frame and size.
  override open func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(givenFrame, forKey: "window.frame")
    coder.encode(givenSize, forKey: "window.size")
    coder.encode(state.rawValue, forKey: "window.state")
    coder.encode(shownState.rawValue, forKey: "window.shownState")
  }

  /// Puts the window where it was, or where the user can reach it.
  override open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    if let stored = try coder.decodeIfPresent(Frame?.self, forKey: "window.frame") ?? nil {
      // Without screens nothing makes nonsense usable.
      let usable = stored.isUsable ? stored : stored.visible(on: screens)
      if usable.isUsable { givenFrame = usable }
    }
    if let stored = try coder.decodeIfPresent(Size?.self, forKey: "window.size") ?? nil, stored.isUsable {
      givenSize = stored
    }
    show()
    // The earlier state first: setting a state that is shown makes it the one to come back in.
    for key in ["window.shownState", "window.state"] {
      if let name = try coder.decodeIfPresent(String.self, forKey: key), let stored = State(rawValue: name) {
        state = stored
      }
    }
  }

  /// Takes the content back, if it could be restored: the window's last child that a subclass does not list as its own.
  override open func install(_ children: [RestoredChild]) {
    let own = containedControllers.filter { $0 !== content }
    let others = children.filter { child in
      !own.contains { $0 === child.controller || $0.restoration.identifier == child.identifier }
    }
    if let controller = others.newest { content = controller }
  }
}
