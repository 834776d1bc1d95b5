import Foundation
import RestorationArchive
import Testing

/// What every text-like value owes its users, whichever it is.
struct ExactTextTests {
  private static let precomposed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  @Test func `spellings that Unicode calls equivalent are two values, also as keys`() {
    func check<Text: RestorationArchive.ExactText>(_ type: Text.Type) {
      let (one, other) = (Text(Self.precomposed), Text(Self.decomposed))
      #expect(one != other)
      #expect(one == Text(rawValue: Self.precomposed))
      #expect(Set([one, other, one]).count == 2)
    }
    check(RestorationIdentifier.self)
    check(RestorationArchive.ClassTag.self)
    check(ModelIdentifier.self)
    check(RestorationArchive.ApplicationVersion.self)
    check(RestorationArchive.VersionTag.self)
    // Once more where the type is known: another `==`, that of all raw values, is in sight there.
    #expect(RestorationIdentifier(Self.precomposed) != RestorationIdentifier(Self.decomposed))
  }

  @Test func `values are ordered by their bytes`() {
    let texts: [RestorationIdentifier] = ["", "Z", "a", "e\u{301}", "z", "\u{E9}", "漢", "😀"]
    #expect(texts.shuffled().sorted() == texts)
  }

  @Test func `a value is stored as the bare text, and comes back byte for byte`() throws {
    let identifiers: [ModelIdentifier] = ["row \(7)", "", "e\u{301}"]
    #expect(String(decoding: try JSONEncoder().encode(identifiers), as: UTF8.self) == #"["row 7","","e\#u{301}"]"#)
    let stored = try ArchiveEncoder().encode(identifiers)
    #expect(try ArchiveDecoder().decode([String].self, from: stored) == identifiers.map(\.rawValue))
    #expect(try ArchiveDecoder().decode([ModelIdentifier].self, from: stored) == identifiers)
  }

  @Test func `a value reads as its text`() {
    let tag: RestorationArchive.ClassTag = "editor"
    #expect("\(tag)" == "editor" && tag.description == tag.rawValue)
    #expect(!tag.isEmpty && RestorationArchive.ClassTag("").isEmpty)
  }
}
