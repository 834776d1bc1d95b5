import RestorationArchive
import Testing

@testable import StateRestoration

/// The one predicate, for every pair of recorded state and an asker.
@Suite struct ClaimantTests {
  /// By the asker's tag and the recorded one: whether the class fits.
  private static let tags: [(asker: RestorationClass?, recorded: RestorationClass?, fits: Bool)] = [
    ("note", nil, true), ("note", "note", true), ("note", "memo", true), ("note", "list", false),
    (nil, nil, true), (nil, "note", false), (nil, "memo", true), (nil, "list", false),
  ]
  /// By the asker's model and the recorded one: whether the model fits, and whether it does when the asker is given nothing.
  private static let models: [(asker: ModelIdentifier?, recorded: ModelIdentifier?, fits: Bool, nothingGiven: Bool)] = [
    (nil, nil, true, true), (nil, "A", true, false), (nil, "B", true, false), ("A", nil, true, true),
    ("A", "A", true, true), ("A", "B", false, false),
  ]
  /// By whether the asker is a view and whether a view's state was recorded.
  private static let kinds: [(asker: Bool, recorded: Bool, fits: Bool)] = [
    (false, false, true), (false, true, false), (true, false, false), (true, true, true),
  ]

  @Test func `state fits by kind, then class, then model`() {
    var count = 0
    for kind in Self.kinds {
      for tag in Self.tags {
        for (model, isGivenNothing) in Self.models.flatMap({ [($0, false), ($0, true)] }) {
          let claimant = Claimant(
            identity: Identity(classTag: tag.asker, model: model.asker, isView: kind.asker), version: 1,
            acceptedTags: ["memo"], isGivenNothing: isGivenNothing)
          let recorded = Identity(classTag: tag.recorded, model: model.recorded, isView: kind.recorded)
          let expected: Selection.Refusal? =
            switch (kind.fits && tag.fits, isGivenNothing ? model.nothingGiven : model.fits) {
            case (false, _): .otherClass
            case (true, false): .otherModel
            case (true, true): nil
            }
          #expect(claimant.mismatch(with: recorded) == expected, "\(kind) \(tag) \(model)")
          count += 1
        }
      }
    }
    #expect(count == 384)
  }

  @Test func `a tag table stands for registered classes, and for others only their own tag`() {
    let table = TagTable(["note": ["note", "memo"], "memo": ["note", "memo"]])
    #expect(table.acceptedTags(by: "note") == ["note", "memo"])
    #expect(table.acceptedTags(by: "memo") == ["note", "memo"])
    #expect(table.acceptedTags(by: "list") == ["list"])
    #expect(table.acceptedTags(by: nil) == [])
    let claimant = table.claimant(of: .init(classTag: "note", version: 3, flags: .view, model: "A"))
    #expect(claimant.identity == Identity(classTag: "note", model: "A", isView: true))
    #expect(claimant.version == 3)
    #expect(claimant.acceptedTags == ["note", "memo"])
  }
}
