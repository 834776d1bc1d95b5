import StateRestoration
import Testing

/// What an object says of itself.
struct RestorationIdentityTests {
  @Test func `a literal names an object, and so does a text with a value in it`() {
    let number = 3
    let (short, long): (RestorationIdentity, RestorationIdentity) = ("search", "item \(number)")
    #expect(short == RestorationIdentity("search") && short.identifier == "search")
    #expect(long == RestorationIdentity("item 3"))
    #expect(RestorationIdentity("item \(number)", class: "item").class == "item")
  }

  @Test func `a text that is made at run time names an object too`() {
    let title = ["Notes", "today"].joined(separator: "/")
    let identity = RestorationIdentity(title, class: "item")
    #expect(identity.identifier == "Notes/today" && identity.class == "item")
    #expect(RestorationIdentity(title) == RestorationIdentity(RestorationIdentifier(title)))
    let none: RestorationIdentifier? = nil
    #expect(RestorationIdentity(none, class: "item").identifier == nil)
  }

  @Test func `what is not said is normal`() {
    let identity = RestorationIdentity("search")
    #expect(identity.class == nil && identity.model == nil && identity.priority == .normal && identity.version == 1)
  }

  @Test func `an object that is left out on purpose is another one than one whose name is missing`() {
    #expect(RestorationIdentity.excluded.identifier == nil)
    #expect(RestorationIdentity.excluded != RestorationIdentity(nil))
  }
}
