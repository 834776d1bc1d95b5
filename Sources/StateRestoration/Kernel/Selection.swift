internal import RestorationArchive

/// The table *Select*: which of a place's variants an object gets.
enum Selection {
  /// The facts about one variant, without reading its record.
  struct Candidate: Sendable {
    var identity: Identity
    var version: StateVersion
    /// Whether restoring died at it, and nobody asks for another try.
    var isLeftOut = false
    /// Whether its record is damaged.
    var isDamaged = false
    /// Whether this launch doesn't ask for it.
    var isWithheld = false
  }

  /// What one variant is to an object.
  enum Verdict: Hashable, Sendable {
    /// Its state is the object's.
    case fits
    /// The object's own, but its record can't be read: only the places of the object's children are in it.
    case unreadable(Unreadable)
    /// Not for the object: look on.
    case refused(Refusal)
  }

  /// Why an object can't read state of its own.
  enum Unreadable: Hashable, Sendable {
    case newerVersion, damaged, withheld
  }

  /// Why a variant is not for an object.
  enum Refusal: Hashable, Sendable {
    case leftOut, otherClass, otherModel
    /// It is expired, or its model is gone. Those behind it count.
    case deleted
  }

  /// The variant that an object gets.
  enum Choice: Hashable, Sendable {
    /// The one at the position: the object is its owner.
    case owner(Int)
    /// None; the object is blank, over the one at the position if that is its own and unreadable.
    case blank(over: Int?)
  }

  /// Judges one variant.
  static func verdict(on candidate: Candidate, for claimant: Claimant) -> Verdict {
    if candidate.isLeftOut { return .refused(.leftOut) }
    if let mismatch = claimant.mismatch(with: candidate.identity) { return .refused(mismatch) }
    if candidate.version > claimant.version { return .unreadable(.newerVersion) }
    if candidate.isDamaged { return .unreadable(.damaged) }
    return candidate.isWithheld ? .unreadable(.withheld) : .fits
  }

  /// Goes through a place's variants, newest first; the first that fits wins.
  ///
  /// Of several variants of one identity only the newest counts, unless it is deleted.
  static func choose<Variants: Collection, Failure: Error>(
    among variants: Variants, tags: @autoclosure () -> TagTable,
    _ judge: (Variants.Element) throws(Failure) -> (identity: Identity, verdict: Verdict)
  ) throws(Failure) -> Choice {
    var own: Int?
    var passed: [Identity] = []
    for (position, variant) in variants.enumerated() {
      let (identity, verdict) = try judge(variant)
      guard passed.isEmpty || !passed.contains(where: { tags().isSameIdentity($0, identity) }) else { continue }
      switch verdict {
      case .fits: return .owner(position)
      case .refused(.deleted): continue
      case .unreadable: own = own ?? position
      case .refused: break
      }
      passed.append(identity)
    }
    return .blank(over: own)
  }
}

extension Selection.Candidate {
  /// What a node's attributes tell of it.
  init(_ attributes: RestorationArchive.Attributes) {
    self.init(
      identity: attributes.identity, version: attributes.version, isLeftOut: attributes.flags.contains(.leftOut))
  }
}
