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

  @Test func `what is not said is normal`() {
    let identity = RestorationIdentity("search")
    #expect(identity.class == nil && identity.model == nil && identity.priority == .normal && identity.version == 1)
  }

  @Test func `an object that is left out on purpose is another one than one whose name is missing`() {
    #expect(RestorationIdentity.excluded.identifier == nil)
    #expect(RestorationIdentity.excluded != RestorationIdentity(nil))
  }
}
