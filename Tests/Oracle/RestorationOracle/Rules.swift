// Imports nothing, of the engine least of all.

/// The rules by which states are stored and come back: a second, small implementation of the engine's four tables, over values.
///
/// A *place* is a path of names. It holds *variants*, newest first, each the state of one identity, which is a class (under
/// any of its tags) and a model object. A variant has its own places below it.
///
/// **Restoring** (the table "Select"). A page is given the first variant in its place that fits it:
/// - one that restoring died at is passed over while the report says so, and comes back when it is asked for;
/// - one whose class or model does not fit the page is passed over and stays (dormant);
/// - one whose model object is gone may be deleted;
/// - one of a newer version is passed over and stays;
/// - of several of one identity only the newest counts: the others may be dropped at any time;
/// - a page that is given nothing keeps what it has, and is *blank*; it becomes the owner of a new variant if nothing is
///   stored in its place and its parent is an owner. If it was an owner before, in the same run, what it has is an edit.
/// Who is given a variant is the *owner* of it: the places below it come back below the page. A place in which the program
/// makes no page stays as it is (carried over). Nobody else comes back, and nobody is given anything else.
///
/// **Saving** (the table "Commit"). An owner's values take the place of its variant; if its class or model is another one by
/// now, the old variant is dormant, or, if it fits the page all the same (that of a superclass, say), may be dropped. A blank
/// page is saved, in front of what is stored, when it was edited or somebody below it is saved. Otherwise its place
/// stays as it is.
///
/// **Leaving** (the table "Leave"). An owner that leaves takes its variant and all below it along, to where it has moved or
/// for good. What else is stored in the place stays.
///
/// **Joining** (the table "Merge"). In a run that was launched locked every page is blank. What was edited in it takes the
/// place of the variant of the same identity, if the program can read that, and stands in front of it otherwise. Who was not
/// edited has what is stored, and what was edited below goes below that.
///
/// What these rules leave open an engine answers always in the same way (``Question``). Where a rule says that something may
/// be there, it is marked as optional.
struct Rules {
  /// The running program.
  var program: ProgramVersion
  /// The model objects that don't exist any more.
  var goneModels: Set<Int> = []
  /// What the report of this restoration left out after a crash, and may: by path.
  var leftOut: Set<[Int]> = []
  /// Whether this restoration asks for what was left out.
  var isAskedFor = false
  /// Whether any state may be left out that the report names, because a process died somewhere in restoring.
  var leavesOutAny = false
  /// Who answers what is open.
  var inquiry = Inquiry(Answers())
  /// What the program makes at a path; nil where it makes nothing.
  var makes: ([Int]) -> Kind? = { _ in nil }

  /// Whether the page at a path was an owner before this restoration, in the same run.
  var wasOwner: ([Int]) -> Bool = { _ in false }

  /// Whether pages are registered, after restoring: their states stay as they are stored until the end of the turn.
  var isLate = false

  /// What may be true at most, before a script ends early.
  let bound = Bound()

  // MARK: - Restoring

  /// All ways in which a page on the screen can have what it has from the variants of its place; none is a violation.
  func bind(
    _ sight: Sight, _ variants: [Variant], at path: [Int], underOwner: Bool, _ why: inout Set<String>
  ) -> [Live] {
    var found: [Live] = []
    look(sight, variants, at: path, underOwner, from: 0, kept: [], seen: [], &found, &why)
    return found.distinct
  }

  private func look(
    _ sight: Sight, _ variants: [Variant], at path: [Int], _ underOwner: Bool, from index: Int, kept: [Variant],
    seen: [Variant], _ found: inout [Live], _ why: inout Set<String>
  ) {
    guard bound.admitsLook() else { return }
    func lookOn(keeping variant: Variant?, _ why: inout Set<String>) {
      look(
        sight, variants, at: path, underOwner, from: index + 1, kept: kept + [variant].compactMap(\.self),
        seen: seen + [variant].compactMap(\.self), &found, &why)
    }
    guard index < variants.count else {
      guard sight.value == sight.before ?? 0 else {
        why.insert("\(path) has \(sight.value), which nothing in its place gives it: \(variants)")
        return
      }
      // What may be gone may be in nobody's way.
      var answers = [kept.isEmpty && underOwner]
      if !kept.isEmpty, underOwner, kept.allSatisfy(\.isOptional) { answers.append(true) }
      for isOwner in answers {
        var page = Live(
          name: sight.name, kind: sight.kind, value: sight.value, isPresented: sight.isPresented,
          binding: isOwner ? .owner(nil) : .blank(baseline: sight.before != nil && wasOwner(path) ? .min : sight.value))
        // Nobody is made for what stood behind the state of a model object that is gone.
        let isBehindGone = kept.first.map { goneModels.contains($0.model) } ?? false
        page.behind = isBehindGone ? kept.map { $0.left() } : kept
        for below in children(of: sight, [:], at: path, underOwner: isOwner, &why) {
          page.children = below.children
          found.append(page)
        }
      }
      return
    }
    let variant = variants[index]
    if variant.isOptional { lookOn(keeping: nil, &why) }
    if goneModels.contains(variant.model) {
      lookOn(keeping: variant.asOptional(), &why)
      return
    }
    let isShadowed =
      seen.contains { program.isSameIdentity($0, variant) } && !(isAskedFor && variant.diedAt)
    // What was left out and is asked for may be given although there is newer state.
    if isAskedFor, variants[(index + 1)...].contains(where: { $0.diedAt && program.accepts(sight.kind, $0) }) {
      lookOn(keeping: variant, &why)
    }
    guard program.accepts(sight.kind, variant), variant.version <= program.number, !isShadowed else {
      var passed = variant
      if variants.count == 1, mayLeaveOut(variant, at: path, among: variants) { passed.diedAt = true }
      lookOn(keeping: isShadowed ? passed.asOptional() : passed, &why)
      if !isShadowed, program.accepts(sight.kind, variant), sight.value == sight.before ?? 0 {
        own(sight, variants, index, at: path, kept, .below(passed, baseline: sight.value), &found, &why)
      }
      return
    }
    if mayLeaveOut(variant, at: path, among: variants) {
      var passed = variant
      passed.diedAt = true
      lookOn(keeping: passed, &why)
    }
    guard sight.value == variant.value else {
      why.insert("\(path) has \(sight.value) instead of \(variant.value)")
      return
    }
    own(sight, variants, index, at: path, kept, .owner(variant), &found, &why)
  }

  /// A page that has a variant, and what is below that.
  private func own(
    _ sight: Sight, _ variants: [Variant], _ index: Int, at path: [Int], _ kept: [Variant], _ binding: Live.Binding,
    _ found: inout [Live], _ why: inout Set<String>
  ) {
    let variant = variants[index]
    var page = Live(
      name: sight.name, kind: sight.kind, value: sight.value, isPresented: sight.isPresented, binding: binding)
    if isLate { page.given = variant }
    if case .owner(var own?) = binding {
      // Whatever is saved of it next is today's form of it.
      let today = self.variant(of: page)
      if program.isSameIdentity(today, own) { (own.tag, own.version) = (today.tag, today.version) }
      page.binding = .owner(own)
    }
    let others = retire(variants[(index + 1)...], behind: variant)
    // What was asked for is the newest from now on.
    let comesFirst = isAskedFor && variant.diedAt
    if case .below = binding {
      page.before = kept
      page.behind = others
    } else {
      // What an object owns comes to the front.
      page.behind = (comesFirst ? kept.map { $0.asOptional() } : kept) + others
    }
    // What was below a state that this one has replaced may go on below it.
    var places = variant.places
    let replaced =
      variants[..<index].filter { $0.isOptional && program.isSameIdentity(variant, $0) }
      + variants[(index + 1)...].filter { $0.isOptional || program.isSameIdentity(variant, $0) }
    for former in replaced where program.accepts(sight.kind, former) {
      places.merge(former.places.mapValues { $0.map { $0.asOptional() } }) { $0 + $1 }
    }
    for below in children(of: sight, places, at: path, underOwner: true, &why) {
      page.children = below.children
      page.carried = below.carried
      found.append(page)
    }
  }

  private typealias Below = (children: [Live], carried: [Int: [Variant]])

  private func children(
    of sight: Sight, _ places: [Int: [Variant]], at path: [Int], underOwner: Bool, _ why: inout Set<String>
  ) -> [Below] {
    var all: [Below] = [([], [:])]
    for child in sight.children {
      let path = path + [child.name]
      let stored = places[child.name] ?? []
      guard !stored.isEmpty || child.before != nil else {
        why.insert("\(path) came from nowhere")
        return []
      }
      let pages = bind(child, stored, at: path, underOwner: underOwner, &why)
      guard bound.admits(all.count * pages.count) else { return [] }
      all = all.flatMap { below in pages.map { (below.children + [$0], below.carried) } }
    }
    for (name, stored) in places where !sight.children.contains(where: { $0.name == name }) {
      guard mayBeAway(stored, at: path + [name], beside: sight) else {
        why.insert("\(path + [name]) did not come back: \(stored)")
        return []
      }
      // Nobody is made for what stood behind the state of a model object that is gone, from now on.
      let isBehindGone = stored.first.map { goneModels.contains($0.model) } ?? false
      let left = stored.map { variant in
        var variant = isBehindGone ? variant.left() : variant
        if mayLeaveOut(variant, at: path + [name], among: stored) { variant.diedAt = true }
        return goneModels.contains(variant.model) ? variant.asOptional() : variant
      }
      for index in all.indices { all[index].carried[name] = left }
    }
    return all
  }

  /// Whether a place that holds variants may be without a page: there is none for it, or nothing in it fits that.
  private func mayBeAway(_ variants: [Variant], at path: [Int], beside sight: Sight) -> Bool {
    guard let kind = makes(path), !variants.allSatisfy({ $0.isLeft || $0.isOptional }) else { return true }
    // Nobody is made for what stands behind the state of a model object that is gone.
    if let first = variants.first, goneModels.contains(first.model) { return true }
    let given = variants.first { !$0.isOptional && program.accepts(kind, $0) && $0.version <= program.number }
    guard let given, !goneModels.contains(given.model), !goneModels.contains(kind.model) else { return true }
    if variants.contains(where: { mayLeaveOut($0, at: path, among: variants) }) { return true }
    // One page is presented at a time.
    return variants.contains(where: \.isPresented) && sight.children.contains(where: \.isPresented)
  }

  /// Whether a state may be passed over because restoring died at it; where there are others the report names one of them.
  private func mayLeaveOut(_ variant: Variant, at path: [Int], among variants: [Variant]) -> Bool {
    !isAskedFor && (variants.count > 1 || leftOut.contains(path)) && (variant.diedAt || leavesOutAny)
  }

  private func retire(_ others: some Sequence<Variant>, behind own: Variant) -> [Variant] {
    others.map { program.isSameIdentity(own, $0) ? $0.asOptional() : $0 }
  }

  // MARK: - Saving

  /// A page's state as a save would store it, without what is below it.
  func variant(of page: Live) -> Variant { own(page, [:]) }

  /// The same with the pages below it, all of which may be gone.
  func optionalVariant(of page: Live) -> Variant {
    let below = page.children.map { ($0.name, [optionalVariant(of: $0)]) }
    return own(page, Dictionary(below) { $0 + $1 }).asOptional()
  }

  private func own(_ page: Live, _ places: [Int: [Variant]]) -> Variant {
    Variant(
      tag: program.tag(of: page.kind), model: page.model, version: program.number, value: page.value,
      places: places, isPresented: page.isPresented, isOptional: goneModels.contains(page.model))
  }

  /// Whether a save has to store the page.
  private func isSaved(_ page: Live) -> Bool {
    let question: Question = page.others.isEmpty ? .savesUneditedBelowBlank : .savesUneditedInFront
    return page.isOwner || page.isEdited || page.children.contains { isSaved($0) || $0.hasNewer }
      || (page.isUnsettled && inquiry.says(question))
  }

  /// What a save stores in a page's place; the page is then bound to it.
  func commit(_ page: inout Live) -> [Variant] {
    let departed = page.departed
    page.departed = [:]
    (page.hasMoved, page.showsOther, page.given, page.met) = (false, false, nil, [])
    if case .owner(let former?) = page.binding, !program.isSameIdentity(own(page, [:]), former) {
      // All that is below stays with the former state, or comes along.
      let keepsModels = inquiry.says(.keepsModelsBelowAnother)
      for index in page.children.indices {
        page.children[index].loosen()
        if !keepsModels { page.children[index].forgetModel() }
      }
    }
    var places = page.carried
    for index in page.children.indices {
      let stored = commit(&page.children[index])
      if !stored.isEmpty { places[page.children[index].name] = stored }
    }
    var own = own(page, places)
    if case .below(var newer, let baseline) = page.binding, page.value == baseline {
      newer.places = places
      page.binding = .below(newer, baseline: baseline)
      return page.before + [newer] + page.behind
    }
    if case .below(let newer, _) = page.binding { page.behind.insert(newer.asOptional(), at: 0) }
    if case .owner(let former?) = page.binding {
      let isSame = program.isSameIdentity(own, former)
      if isSame, own.value == former.value, own.version == former.version, own.isPresented == former.isPresented {
        page.binding = .owner(own)
        page.behind = retire(page.behind, behind: own)
        return page.before + [own] + page.behind
      }
      if !isSame {
        var dormant = dormant(former, behind: &page)
        for name in departed.keys { dormant.places[name] = dormant.places[name]?.map { $0.asOptional() } }
        // It comes by itself, and wakes a state of its own with what is below that.
        for other in page.others where program.accepts(page.kind, other) {
          for (name, variants) in other.places where own.places[name] == nil && page.carried[name] == nil {
            page.carried[name] = variants.map { $0.asOptional() }
          }
        }
        page.behind.insert(dormant, at: 0)
        for (name, variants) in page.carried { own.places[name] = variants }
      }
    } else if !isSaved(page) {
      return page.others
    }
    for former in page.others where !page.isStored && program.accepts(page.kind, former) {
      // What was below a state that this one replaces may go on below it, wherever the page goes.
      for (name, variants) in former.places where own.places[name] == nil {
        page.carried[name] = variants.map { $0.asOptional() }
        own.places[name] = page.carried[name]
      }
    }
    // What is another's and fits all the same may be taken for the page's own.
    page.behind = page.others.map { program.accepts(page.kind, $0) ? $0.asOptional() : $0 }
    page.before = []
    page.binding = .owner(own)
    page.isUnsettled = false
    return [own] + page.behind
  }

  /// A variant whose owner has become another one's: nobody's, or that one's own if it fits it all the same.
  private func dormant(_ former: Variant, behind page: inout Live) -> Variant {
    // Nor is it said whether what is carried over below the page stays below its former state.
    page.carried = page.carried.mapValues { $0.map { $0.asOptional() } }
    if program.accepts(page.kind, former) || goneModels.contains(former.model) { return former.asOptional() }
    var former = former
    // The pages below may have taken their states along.
    for child in page.children { former.places[child.name] = former.places[child.name]?.map { $0.asOptional() } }
    return former
  }

  // MARK: - Joining

  /// What is stored in a place once what a run has edited that was launched locked is joined to it.
  func join(_ page: Live, to variants: [Variant]) -> [Variant] {
    if page.isEdited || (page.isPresented && page.isUnsettled && inquiry.says(.countsPresented)) {
      let header = own(page, [:])
      let former = variants.firstIndex {
        program.isSameIdentity(header, $0) && $0.version <= program.number && !$0.diedAt
      }
      if let former {
        var others = variants
        var own = others.remove(at: former)
        // A program that doesn't know the tag may join it, and leaves this one behind it.
        if own.tag != header.tag { others.insert(own.asOptional(), at: 0) }
        // Somebody else may be presented there, below whom nothing was; and what was below stays with what is left behind.
        let isKnown = page.isEdited && own.tag == header.tag
        var places = isKnown ? own.places : own.asOptional().places
        // One in front of it that names no class or model is the page's own as well.
        for front in variants[..<former] where program.accepts(page.kind, front) {
          places.merge(front.asOptional().places) { $0 + $1 }
        }
        let below = joinBelow(page, places)
        own = self.own(page, below)
        return [own] + joined(others.map { program.accepts(page.kind, $0) ? $0.asOptional() : $0 }, to: page)
      }
      let fitting = variants.first { program.accepts(page.kind, $0) }
      let own = own(page, joinBelow(page, fitting?.asOptional().places ?? [:]))
      let others = variants.map { $0 == fitting || program.isSameIdentity(own, $0) ? $0.asOptional() : $0 }
      return [own] + joined(others, to: page)
    }
    // What it had for another model may have taken the place of what is stored.
    if !page.formerly.isEmpty, !page.hasEdits {
      return [own(page, joinBelow(page, [:])).asOptional()]
        + (page.formerly + variants).map { variant in
          var variant = variant
          if program.accepts(page.kind, variant) { variant.places = joinBelow(page, variant.places) }
          return variant.asOptional()
        }
    }
    let fitting = variants.firstIndex {
      program.accepts(page.kind, $0) && !$0.diedAt
        && ($0.version <= program.number || inquiry.says(.joinsBelowNewer))
    }
    if let fitting {
      var others = variants
      var stored = others.remove(at: fitting)
      stored.places = joinBelow(page, stored.places)
      guard page.hasEdits else {
        others.insert(stored, at: fitting)
        // Where that is gone, the page may be there itself.
        if stored.isOptional, isJoined(page) {
          others.insert(own(page, joinBelow(page, [:])).asOptional(), at: fitting + 1)
        }
        return others
      }
      // The page's variant of another model may have taken its place.
      if !page.formerly.isEmpty { (stored, others) = (stored.asOptional(), joined(others, to: page)) }
      // It comes to the front; where it is gone, those below are below an empty one.
      return [stored] + (stored.isOptional ? [own(page, joinBelow(page, [:]))] : []) + others
    }
    let below = joinBelow(page, [:])
    let own = own(page, below)
    let question: Question = variants.isEmpty ? .joinsUneditedBelowBlank : .joinsUneditedInFront
    let isNew = page.isUnsettled || page.children.contains(where: isJoined)
    let joins = page.hasEdits || (isNew && inquiry.says(question))
    return joins ? [own] + page.formerly + retire(variants, behind: own) : variants
  }

  /// What is stored behind a page's state with what the page had for other models before: that may have taken the place of state
  /// of its own.
  private func joined(_ others: [Variant], to page: Live) -> [Variant] {
    others.map { other in
      page.formerly.contains { program.isSameIdentity($0, other) } ? other.asOptional() : other
    } + page.formerly
  }

  /// Whether a save while locked has to store the page.
  private func isJoined(_ page: Live) -> Bool {
    let question: Question = page.others.isEmpty ? .joinsUneditedBelowBlank : .joinsUneditedInFront
    return page.isOwner || page.isEdited || page.children.contains(where: isJoined)
      || (page.isUnsettled && inquiry.says(question))
  }

  private func joinBelow(_ page: Live, _ places: [Int: [Variant]]) -> [Int: [Variant]] {
    var places = places
    for child in page.children {
      let joined = join(child, to: places[child.name] ?? [])
      if !joined.isEmpty { places[child.name] = joined }
    }
    for (name, former) in page.carried where !page.children.contains(where: { $0.name == name }) {
      places[name] = former + (places[name] ?? []).map { $0.asOptional() }
    }
    return places
  }
}

/// A limit on how many things may be true at once.
final class Bound {
  static let limit = 32

  private(set) var isExceeded = false
  private var looks = 0

  /// Counts one way in which a page may have what it has: with many optional variants there are very many.
  func admitsLook() -> Bool {
    looks += 1
    if looks > 100_000 { isExceeded = true }
    return !isExceeded
  }

  func admits(_ count: Int) -> Bool {
    if count > Self.limit { isExceeded = true }
    return !isExceeded
  }
}
