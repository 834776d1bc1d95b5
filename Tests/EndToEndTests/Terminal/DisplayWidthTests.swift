import Testing

@testable import restore_demo

struct DisplayWidthTests {
  @Test(arguments: [
    ("a", 1), ("é", 1), ("e\u{301}", 1), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("日", 2), ("😀", 2), ("👩‍👩‍👧", 2),
    ("🇰🇷", 2), ("✔︎", 1), ("❤️", 2), ("1️⃣", 2), ("\u{200B}", 0), ("\u{7}", 0), ("Ａ", 2), ("─", 1), ("…", 1),
  ])
  func `a character takes the cells that terminals give it`(_ text: String, _ width: Int) throws {
    let character = try #require(text.first)
    #expect(text.count == 1)
    #expect(DisplayWidth.of(character) == width)
  }

  @Test func `what would move the cursor or hide is shown as something visible`() {
    for character in ["\u{1B}", "\u{7}", "\u{9B}", "\u{200B}", "\u{7F}"] as [Character] {
      #expect(DisplayWidth.of(DisplayWidth.visible(character)) == 1)
    }
    #expect(DisplayWidth.visible("한") == "한")
  }
}
