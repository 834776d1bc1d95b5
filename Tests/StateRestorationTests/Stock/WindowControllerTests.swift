import StateRestoration
import Testing

@MainActor struct WindowControllerTests {
  static let left = WindowFrame(x: 0, y: 0, width: 1920, height: 1080)
  static let right = WindowFrame(x: 1920, y: 0, width: 1280, height: 1024)

  @Test(arguments: [
    // On a screen, or reachable on one: unchanged.
    (WindowFrame(x: 10, y: 20, width: 300, height: 200), WindowFrame(x: 10, y: 20, width: 300, height: 200)),
    (WindowFrame(x: -200, y: 0, width: 300, height: 200), WindowFrame(x: -200, y: 0, width: 300, height: 200)),
    // On a screen that is gone: onto the nearest, whole.
    (WindowFrame(x: 2500, y: 50, width: 300, height: 200), WindowFrame(x: 1620, y: 50, width: 300, height: 200)),
    (WindowFrame(x: 10, y: -900, width: 300, height: 200), WindowFrame(x: 10, y: 0, width: 300, height: 200)),
    (WindowFrame(x: 5000, y: 5000, width: 9000, height: 9000), WindowFrame(x: 0, y: 0, width: 1920, height: 1080)),
    // Nonsense: something usable.
    (WindowFrame(x: .nan, y: 0, width: 0, height: -5), WindowFrame(x: 0, y: 0, width: 960, height: 540)),
  ])
  func `a window saved off every screen comes back on one`(_ saved: WindowFrame, _ expected: WindowFrame) {
    #expect(saved.visible(on: [Self.left]) == expected)
  }

  @Test func `a window goes to the nearest screen`() {
    let frame = WindowFrame(x: 4000, y: 100, width: 300, height: 200)
    #expect(frame.visible(on: [Self.left, Self.right]) == WindowFrame(x: 2900, y: 100, width: 300, height: 200))
    #expect(frame.visible(on: []) == frame)
  }

  @Test func `frame, full screen and content come back`() throws {
    let content = LeafController("content")
    let before = WindowController(restorationIdentifier: "window", content: content)
    before.frame = WindowFrame(x: 2500, y: 50, width: 300, height: 200)
    before.isFullScreen = true
    let after = WindowController(restorationIdentifier: "window", screens: [Self.left])
    after.installRestoredChildren([child("content", content)])
    try RoundTrip.decode(RoundTrip.encode(before), into: after)
    #expect(after.content === content && after.isFullScreen)
    #expect(after.frame == WindowFrame(x: 1620, y: 50, width: 300, height: 200))
  }
}
