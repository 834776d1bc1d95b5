import Testing

@testable import restore_demo

struct CanvasTests {
  @Test func `a wide character is never cut in half at the edge`() {
    var canvas = Canvas(rows: 1, columns: 4)
    canvas.draw("abc한", row: 0, column: 0, in: canvas.bounds)
    #expect(canvas.text == "abc")
  }

  @Test func `drawing over half a wide character blanks the other half`() {
    var canvas = Canvas(rows: 1, columns: 4)
    canvas.draw("한국", row: 0, column: 0, in: canvas.bounds)
    canvas.draw("x", row: 0, column: 1, in: canvas.bounds)
    #expect(canvas.text == " x국")
    canvas.draw("y", row: 0, column: 2, in: canvas.bounds)
    #expect(canvas.text == " xy")
  }

  @Test func `text outside the rectangle is not drawn`() {
    var canvas = Canvas(rows: 3, columns: 6)
    let area = Canvas.Rectangle(row: 1, column: 2, rows: 1, columns: 3)
    canvas.draw("abcdef", row: 0, column: 0, in: area)
    canvas.draw("no", row: 1, column: 0, in: area)
    #expect(canvas.text == "\n  abc\n")
  }

  @Test func `a row that is cut short says so`() {
    var canvas = Canvas(rows: 3, columns: 4)
    canvas.drawRow("abcd", row: 0, in: canvas.bounds, style: .plain)
    canvas.drawRow("abcde", row: 1, in: canvas.bounds, style: .plain)
    canvas.drawRow("한국어", row: 2, in: canvas.bounds, style: .plain)
    #expect(canvas.text == "abcd\nabc…\n한 …")
  }

  @Test func `escape bytes in a text never reach the terminal`() {
    var canvas = Canvas(rows: 1, columns: 20)
    canvas.draw("\u{1B}[2J", row: 0, column: 0, in: canvas.bounds)
    #expect(!canvas.text.contains("\u{1B}"))
    #expect(canvas.text.hasPrefix("␛[2J"))
  }

  @Test func `an unchanged screen writes nothing and a changed row writes that row only`() {
    var renderer = Renderer()
    var canvas = Canvas(rows: 3, columns: 10)
    canvas.draw("one", row: 0, column: 0, in: canvas.bounds)
    #expect(renderer.bytes(for: canvas).contains("one"))
    #expect(renderer.bytes(for: canvas).isEmpty)
    canvas.draw("two", row: 2, column: 0, in: canvas.bounds)
    let change = renderer.bytes(for: canvas)
    #expect(change.contains("two"))
    #expect(!change.contains("one"))
    #expect(change.hasPrefix("\u{1B}[?2026h") && change.hasSuffix("\u{1B}[?2026l"))
    renderer.invalidate()
    #expect(renderer.bytes(for: canvas).contains("one"))
  }
}
