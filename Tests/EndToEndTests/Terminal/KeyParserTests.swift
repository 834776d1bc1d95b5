import Testing

@testable import restore_demo

struct KeyParserTests {
  @Test(arguments: [
    ("a", Key.character("a")), ("한", .character("한")), ("\r", .enter), ("\t", .tab), ("\u{7F}", .backspace),
    ("\u{0C}", .control("l")), ("\u{1A}", .control("z")), ("\u{1C}", .control("\\")), ("\u{1B}[A", .up),
    ("\u{1B}OB", .down), ("\u{1B}[1;3C", .altRight), ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp),
    ("\u{1B}[Z", .backTab), ("\u{1B}OQ", .function(2)), ("\u{1B}[12~", .function(2)),
    ("\u{1B}[<0;5;3M", .click(row: 2, column: 4)), ("\u{1B}[<64;1;1M", .up), ("\u{1B}[<65;1;1M", .down),
  ])
  func `the bytes of a key are that key, however they are split`(_ text: String, _ key: Key) {
    let bytes = Array(text.utf8)
    for split in 0...bytes.count {
      var parser = KeyParser()
      let keys = parser.parse(bytes[..<split]) + parser.parse(bytes[split...])
      #expect(keys == [key], "split after \(split) bytes")
    }
  }

  @Test func `a button that is let go, and one that means nothing, are no keys`() {
    var parser = KeyParser()
    #expect(parser.parse(Array("\u{1B}[<0;5;3m\u{1B}[<2;5;3M\u{1B}[<0;0;0M\u{1B}[<0;5Mx".utf8)) == [.character("x")])
  }

  @Test func `a lone escape byte is the Escape key once nothing follows`() {
    var parser = KeyParser()
    #expect(parser.parse([0x1B]).isEmpty)
    #expect(parser.isWaiting)
    #expect(parser.flush() == [.escape])
    #expect(!parser.isWaiting)
  }

  @Test func `pasted text is one key, also when it holds control bytes`() {
    var parser = KeyParser()
    let keys = parser.parse(Array("\u{1B}[200~two\nlines\u{1B}[201~x".utf8))
    #expect(keys == [.paste("two\nlines"), .character("x")])
  }

  @Test func `a paste that is far too long is cut, and its end is seen wherever it is split`() {
    let end = Array("\u{1B}[201~".utf8)
    for split in 0...end.count {
      var parser = KeyParser()
      #expect(parser.parse(Array("\u{1B}[200~".utf8)).isEmpty)
      for _ in 0..<20 { #expect(parser.parse([UInt8](repeating: 0x61, count: 1 << 16)).isEmpty) }
      let rest: [UInt8] = end[split...] + [0x78]
      let keys: [Key] = parser.parse(end[..<split]) + parser.parse(rest)
      #expect(keys == [.paste(String(repeating: "a", count: 1 << 20)), .character("x")])
    }
  }

  @Test func `bytes that are no text are dropped and what follows is read`() {
    var parser = KeyParser()
    #expect(parser.parse([0xFF, 0xC3, 0x28, 0x61]) == [.character("("), .character("a")])
  }

  @Test func `a sequence that never ends is given up`() {
    var parser = KeyParser()
    _ = parser.parse([0x1B, 0x5B] + Array(repeating: 0x31, count: 64))
    #expect(parser.parse(Array("b".utf8)) == [.character("b")])
  }

  @Test(arguments: [("enter", Key.enter), ("ctrl-l", .control("l")), ("f2", .function(2)), ("x", .character("x"))])
  func `a script names keys`(_ name: String, _ key: Key) {
    #expect(Key(name: name) == key)
  }

  @Test func `an unknown key name is refused`() {
    #expect(Key(name: "hyper-q") == nil)
    #expect(Key(name: "") == nil)
  }
}
