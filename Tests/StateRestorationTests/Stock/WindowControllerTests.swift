import StateRestoration
import Testing

@MainActor struct WindowControllerTests {
  typealias Frame = WindowController.Frame
  typealias Size = WindowController.Size
  typealias State = WindowController.State

  static let left = Frame(x: 0, y: 0, width: 1920, height: 1080)
  static let right = Frame(x: 1920, y: 0, width: 1280, height: 1024)

  @Test(arguments: [
    // On a screen, or reachable on one: unchanged.
    (Frame(x: 10, y: 20, width: 300, height: 200), Frame(x: 10, y: 20, width: 300, height: 200)),
    (Frame(x: -200, y: 0, width: 300, height: 200), Frame(x: -200, y: 0, width: 300, height: 200)),
    // On a screen that is gone: onto the nearest, whole.
    (Frame(x: 2500, y: 50, width: 300, height: 200), Frame(x: 1620, y: 50, width: 300, height: 200)),
    (Frame(x: 10, y: -900, width: 300, height: 200), Frame(x: 10, y: 0, width: 300, height: 200)),
    (Frame(x: 5000, y: 5000, width: 9000, height: 9000), Frame(x: 0, y: 0, width: 1920, height: 1080)),
    // Nonsense: something usable.
    (Frame(x: .nan, y: 0, width: 0, height: -5), Frame(x: 0, y: 0, width: 960, height: 540)),
  ])
  func `a window saved off every screen comes back on one`(_ saved: Frame, _ expected: Frame) {
    #expect(saved.visible(on: [Self.left]) == expected)
  }

  @Test func `nonsense is no frame and no size, also where no screens are known`() throws {
    let before = WindowController("window")
    before.frame = Frame(x: 0, y: 0, width: 0, height: -5)
    before.size = Size(width: -1, height: 3)
    let after = try restored(before, screens: [])
    #expect(after.frame == nil && after.size == nil)
  }

  @Test func `a window goes to the nearest screen`() {
    let frame = Frame(x: 4000, y: 100, width: 300, height: 200)
    #expect(frame.visible(on: [Self.left, Self.right]) == Frame(x: 2900, y: 100, width: 300, height: 200))
    #expect(frame.visible(on: []) == frame)
  }

  @Test func `frame, state and content come back`() throws {
    let content = LeafController("content")
    let before = WindowController("window", content: content)
    before.frame = Frame(x: 2500, y: 50, width: 300, height: 200)
    before.state = .fullScreen
    let after = WindowController("window", screens: [Self.left])
    after.installRestoredChildren([child("content", content)])
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.content === content && after.state == .fullScreen)
    #expect(after.frame == Frame(x: 1620, y: 50, width: 300, height: 200))
    #expect(after.size == Size(width: 300, height: 200))
  }

  /// A window that lists a child of its own.
  final class Page: WindowController {
    let text = LeafController("text")
    var listsContent = true

    override var containedControllers: [any RestorableController] {
      listsContent ? super.containedControllers + [text] : [text]
    }
  }

  @Test(arguments: [false, true]) func `a child that a subclass lists is not taken for the content`(exists: Bool) {
    let content = LeafController("content")
    for listsContent in [true, false] {
      let page = Page("window", content: exists && listsContent ? content : nil)
      page.listsContent = listsContent
      let restored = listsContent ? [child("content", content)] : []
      page.installRestoredChildren(restored + [child("text", page.text)])
      #expect(page.content === (listsContent ? content : nil))
      // One made anew for the same state.
      page.installRestoredChildren(restored + [child("text", LeafController("text"))])
      #expect(page.content === (listsContent ? content : nil))
    }
  }

  private func restored(_ before: WindowController, screens: [Frame] = [Self.left]) throws -> WindowController {
    let after = WindowController("window", screens: screens)
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    return after
  }

  @Test(arguments: [State.maximized, .fullScreen, .minimized])
  func `the normal frame is kept while a window is otherwise`(_ state: State) throws {
    let normal = Frame(x: 10, y: 20, width: 300, height: 200)
    let before = WindowController("window")
    before.windowDidChange(to: .normal, frame: normal)
    before.windowDidChange(to: state, frame: Self.left)
    #expect(before.frame == normal && before.size == Size(width: 300, height: 200))
    let after = try restored(before)
    #expect(after.frame == normal && after.state == state)
    #expect(after.shownState == (state == .minimized ? .normal : state))
    after.windowDidChange(to: .normal, frame: Frame(x: 1, y: 2, width: 30, height: 40))
    #expect(after.frame == Frame(x: 1, y: 2, width: 30, height: 40) && after.shownState == .normal)
  }

  @Test(arguments: State.allCases, [State.normal, .maximized, .fullScreen])
  func `a minimized window comes back in the state before`(_ first: State, _ second: State) throws {
    let before = WindowController("window")
    for state in [first, second, .minimized] { before.windowDidChange(to: state, frame: Self.left) }
    let after = try restored(before)
    #expect(after.state == .minimized && after.shownState == second)
  }

  @Test func `a size comes back where no place is known, and fits a screen`() throws {
    let before = WindowController("window")
    before.windowDidChange(to: .normal, size: Size(width: 3000, height: 500))
    before.windowDidChange(to: .maximized, size: Size(width: 1920, height: 1080))
    let after = try restored(before, screens: [])
    #expect(after.frame == nil && after.size == Size(width: 3000, height: 500) && after.state == .maximized)
    #expect(try restored(before).size == Size(width: 1920, height: 500))
    #expect(try restored(before, screens: [Self.right, Self.left]).size == Size(width: 1920, height: 500))
  }

  @Test func `a place survives sessions that can't know it`() throws {
    let before = WindowController("window")
    before.windowDidChange(to: .normal, frame: Frame(x: 10, y: 20, width: 300, height: 200))
    let between = try restored(before)
    between.windowDidChange(to: .normal, size: Size(width: 400, height: 250))
    #expect(try restored(between).frame == Frame(x: 10, y: 20, width: 400, height: 250))
  }

  // MARK: - Screens that go and come

  /// A window on the right screen, and what it has as its place there.
  private static let onTheRight = Frame(x: 2500, y: 50, width: 300, height: 200)

  /// What the desktop does with a window whose screen is gone.
  enum Showing: CaseIterable {
    case nothing, asAsked, elsewhere, inAnotherState, withoutPlaces
  }

  @Test(arguments: Showing.allCases)
  func `a launch without the screen, in which nobody moves the window, does not cost its place`(showing: Showing) throws
  {
    let before = WindowController("window", screens: [Self.left, Self.right])
    before.windowDidChange(to: .normal, frame: Self.onTheRight)
    let between = try restored(before)
    let shown = try #require(between.frame)
    #expect(shown.x == 1620)
    switch showing {
    case .nothing: break
    case .asAsked: between.windowDidChange(to: .normal, frame: shown)
    case .elsewhere: between.windowWasShown(at: Frame(x: 100, y: 90, width: 280, height: 210))
    case .inAnotherState: between.windowDidChange(to: .maximized, frame: Self.left)
    case .withoutPlaces: between.windowDidChange(to: .normal, size: Size(width: 300, height: 200))
    }
    let after = try restored(between, screens: [Self.left, Self.right])
    #expect(after.frame == Self.onTheRight && after.size == Size(width: 300, height: 200))
  }

  @Test func `a window that the user moves on the other screen stays there`() throws {
    let before = WindowController("window", screens: [Self.left, Self.right])
    before.windowDidChange(to: .normal, frame: Self.onTheRight)
    let between = try restored(before)
    let moved = Frame(x: 10, y: 20, width: 300, height: 200)
    between.windowDidChange(to: .normal, frame: moved)
    #expect(try restored(between, screens: [Self.left, Self.right]).frame == moved)
  }

  @Test func `a window whose screen goes while the program runs is back when the screen is`() throws {
    let window = WindowController("window", screens: [Self.left, Self.right])
    window.windowDidChange(to: .normal, frame: Self.onTheRight)
    window.screens = [Self.left]
    #expect(window.frame == Frame(x: 1620, y: 50, width: 300, height: 200))
    #expect(try restored(window, screens: [Self.left, Self.right]).frame == Self.onTheRight)
    window.screens = [Self.left, Self.right]
    #expect(window.frame == Self.onTheRight)
  }

  @Test func `a size that no screen has room for is back when one has`() throws {
    let before = WindowController("window")
    before.windowDidChange(to: .normal, size: Size(width: 3000, height: 500))
    let between = try restored(before)
    between.windowDidChange(to: .normal, size: Size(width: 1920, height: 500))
    let large = Frame(x: 0, y: 0, width: 3840, height: 2160)
    #expect(try restored(between, screens: [large]).size == Size(width: 3000, height: 500))
  }

  @Test(arguments: [
    Size(width: .nan, height: 5), Size(width: 5, height: 0), Size(width: -5, height: 5),
    Size(width: .infinity, height: 5),
  ])
  func `a size that no window can have is not kept`(_ size: Size) {
    let before = WindowController("window")
    before.windowDidChange(to: .normal, size: size)
    #expect(before.size == nil)
    before.windowDidChange(to: .normal, frame: Frame(x: 0, y: 0, width: size.width, height: size.height))
    #expect(before.frame == nil)
    #expect(size.fitting([]) == nil && size.fitting([Self.left]) == nil)
  }
}
