import Testing

@testable import restore_demo

struct TextLayoutTests {
  @Test func `every caret has a cell and every cell leads back to its caret`() {
    let texts = ["", "a", "hello world\nsecond\n\nlast", "한국어 글은 넓다", "tab\there", "\n\n", "emoji 👩‍👩‍👧 row"]
    for text in texts {
      let characters = Array(text)
      for columns in 2...12 {
        let layout = TextLayout(characters, columns: columns)
        for caret in 0...characters.count {
          let (row, column) = layout.position(ofCaret: caret)
          #expect(column <= columns)
          // At the end of a full row the caret belongs to the next one.
          if layout.caret(atRow: row, column: column) != caret {
            #expect(layout.rows.contains { $0.upperBound == caret })
          }
        }
        let drawn = layout.rows.indices.map { layout.text(ofRow: $0) }.joined()
        #expect(drawn == text.filter { !$0.isNewline }.replacing("\t", with: "  "))
      }
    }
  }

  @Test(arguments: [
    ("the quick brown fox", 10, ["the quick ", "brown fox"]),
    ("a incomprehensible", 6, ["a ", "incomp", "rehens", "ible"]),
    ("글은 넓다", 5, ["글은 ", "넓다"]), ("ab글cd", 4, ["ab글", "cd"]), ("one\ntwo three", 5, ["one", "two ", "three"]),
  ])
  func `a row ends between words, and within one only where that is wider than a row`(
    _ text: String, _ columns: Int, _ rows: [String]
  ) {
    let layout = TextLayout(Array(text), columns: columns)
    #expect(layout.rows.indices.map { layout.text(ofRow: $0) } == rows)
  }

  @Test func `no row is wider than the screen`() {
    let layout = TextLayout(Array("a한b국c어d"), columns: 4)
    for row in layout.rows.indices { #expect(DisplayWidth.of(layout.text(ofRow: row)) <= 4) }
  }

  @Test func `typing a combining mark joins the letter before it`() {
    var buffer = TextBuffer("e")
    buffer.insert("\u{301}")
    #expect(buffer.text == "é" && buffer.caret == 1)
    buffer.deleteBackward()
    #expect(buffer.text.isEmpty && buffer.caret == 0)
  }

  @Test func `a line is edited with the usual keys`() {
    var buffer = TextBuffer("note")
    for key in [Key.home, .character("a"), .right, .delete, .end, .backspace] {
      let isEdited = buffer.editLine(with: key)
      #expect(isEdited)
    }
    #expect(buffer.text == "ant")
    let isEdited = buffer.editLine(with: .up)
    #expect(!isEdited)
  }
}
