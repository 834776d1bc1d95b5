import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Select*, as a function of one variant, and of all verdicts on a place.
@Suite struct SelectionTests {
  /// The verdicts by identity (fits, other class, other model), version (older, same, newer) and damage.
  private static let verdicts:
    [(identity: String, version: StateVersion, isDamaged: Bool, verdict: Selection.Verdict)] = [
      ("fits", 1, false, .fits), ("fits", 1, true, .unreadable(.damaged)),
      ("fits", 2, false, .fits), ("fits", 2, true, .unreadable(.damaged)),
      ("fits", 3, false, .unreadable(.newerVersion)), ("fits", 3, true, .unreadable(.newerVersion)),
      ("class", 1, false, .refused(.otherClass)), ("class", 1, true, .refused(.otherClass)),
      ("class", 2, false, .refused(.otherClass)), ("class", 2, true, .refused(.otherClass)),
      ("class", 3, false, .refused(.otherClass)), ("class", 3, true, .refused(.otherClass)),
      ("model", 1, false, .refused(.otherModel)), ("model", 1, true, .refused(.otherModel)),
      ("model", 2, false, .refused(.otherModel)), ("model", 2, true, .refused(.otherModel)),
      ("model", 3, false, .refused(.otherModel)), ("model", 3, true, .refused(.otherModel)),
    ]

  @Test(arguments: [false, true]) func `a variant is judged by the table`(isLeftOut: Bool) {
    let claimant = Claimant(
      identity: Identity(classTag: "note", model: "A"), version: 2, acceptedTags: ["note"])
    for row in Self.verdicts {
      let candidate = Selection.Candidate(
        identity: Identity(
          classTag: row.identity == "class" ? "list" : "note", model: row.identity == "model" ? "B" : "A"),
        version: row.version, isLeftOut: isLeftOut, isDamaged: row.isDamaged)
      #expect(
        Selection.verdict(on: candidate, for: claimant) == (isLeftOut ? .refused(.leftOut) : row.verdict), "\(row)")
    }
  }

  /// What an object gets, and the verdicts on the variants of its place that give it, newest first: F fits, N newer version,
  /// D damaged, R refused, _ no variant at all.
  private static let choices: [(choice: String, verdicts: String)] = [
    (
      "blank",
      """
      _ R RR RRR
      """
    ),
    (
      "over 0",
      """
      N D NN ND NR DN DD DR NNN NND NNR NDN NDD NDR NRN NRD NRR DNN DND DNR DDN DDD DDR DRN DRD
      DRR
      """
    ),
    (
      "over 1",
      """
      RN RD RNN RND RNR RDN RDD RDR
      """
    ),
    (
      "over 2",
      """
      RRN RRD
      """
    ),
    (
      "owner 0",
      """
      F FF FN FD FR FFF FFN FFD FFR FNF FNN FND FNR FDF FDN FDD FDR FRF FRN FRD FRR
      """
    ),
    (
      "owner 1",
      """
      NF DF RF NFF NFN NFD NFR DFF DFN DFD DFR RFF RFN RFD RFR
      """
    ),
    (
      "owner 2",
      """
      NNF NDF NRF DNF DDF DRF RNF RDF RRF
      """
    ),
  ]

  @Test func `the first variant that fits wins, else the newest unreadable one has the children`() {
    var count = 0
    for row in Self.choices {
      for letters in row.verdicts.split(whereSeparator: \.isWhitespace) {
        let verdicts: [Selection.Verdict] = letters.filter { $0 != "_" }.enumerated().map { position, letter in
          switch letter {
          case "F": .fits
          case "N": .unreadable(.newerVersion)
          case "D": .unreadable(.damaged)
          default: .refused([.leftOut, .otherClass, .otherModel][position % 3])
          }
        }
        let choice = choice(verdicts.enumerated().map { (Identity(classTag: "class \($0)"), $1) })
        #expect(choice == row.choice, "\(letters)")
        count += 1
      }
    }
    #expect(count == 85)
  }

  /// Variants of one place, newest first: a letter for the class (a and A are tags of one), and what they are to the object.
  @Test(arguments: [
    ("aN aF", "over 0"), ("aN AF", "over 0"), ("aN bF", "owner 1"), ("aR aF", "blank"), ("aR bN aF", "over 1"),
    ("aX aF", "owner 1"), ("aX aN aF", "over 1"), ("aX", "blank"), ("aN bR bF cF", "owner 3"),
  ]) func `of several variants of one identity only the newest counts, unless it is deleted`(
    place: String, expected: String
  ) {
    let variants: [(identity: Identity, verdict: Selection.Verdict)] = place.split(separator: " ").map { variant in
      let verdict: Selection.Verdict =
        switch variant.last {
        case "F": .fits
        case "N": .unreadable(.newerVersion)
        case "X": .refused(.deleted)
        default: .refused(.leftOut)
        }
      return (Identity(classTag: RestorationClass(rawValue: String(variant.prefix(1)))), verdict)
    }
    #expect(choice(variants) == expected)
  }

  private func choice(_ variants: [(identity: Identity, verdict: Selection.Verdict)]) -> String {
    switch Selection.choose(among: variants, tags: TagTable(["a": ["a", "A"], "A": ["a", "A"]]), { $0 }) {
    case .owner(let position): "owner \(position)"
    case .blank(let over?): "over \(over)"
    case .blank(nil): "blank"
    }
  }
}
