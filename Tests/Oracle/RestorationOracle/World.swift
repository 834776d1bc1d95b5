/// One of the things that may be true of a scene: what is stored, and whose it is.
///
/// After a save that was cut off there are several; the next restoration shows which of them can be.
struct World: Hashable {
  /// What a process would read, as the variants of the root's place; nil if nothing was saved.
  var stored: [Variant]?
  /// What a power cut may bring back instead: what was acknowledged last, and what was written since.
  var fallbacks: Set<[Variant]?> = []
  /// The running program; nil when it doesn't run.
  var live: Live?
  /// What was stored when a run was launched locked; nil in other runs.
  var base: [Variant]?

  /// How the engine answers what the rules leave open.
  var answers = Answers()

  private struct Save: Equatable {
    var stored: [Variant]
    var live: Live
  }

  /// What a save of the program stores; one of these.
  private func saves(_ rules: Rules) -> [(save: Save, answers: Answers)] {
    guard let live else { return [] }
    return answers.each { inquiry in
      var (rules, live) = (rules, live)
      rules.inquiry = inquiry
      if let base { return Save(stored: rules.join(live, to: base), live: live) }
      return Save(stored: rules.commit(&live), live: live)
    }.map { ($0.result, $0.answers) }
  }

  /// What is there for a restoration; one of these.
  func found(_ rules: Rules) -> [World] {
    guard base != nil else { return [self] }
    return saves(rules).map { save, answers in
      var world = self
      (world.base, world.answers) = (save.stored, answers)
      return world
    }
  }

  // MARK: - Ends of a save

  /// A save was acknowledged: it and all that it builds on survives a power cut.
  func acknowledged(_ rules: Rules) -> [World] {
    saves(rules).map { save, answers in
      var world = self
      (world.stored, world.live, world.fallbacks, world.answers) = (save.stored, save.live, [], answers)
      return world
    }
  }

  /// A save has failed, was cut off, or doesn't know: everything that may be true.
  func uncertain(_ rules: Rules) -> [World] {
    // What was not stored, but was there for a moment, may be kept as well.
    [self]
      + saves(rules).flatMap { save, answers in
        var bound = self
        (bound.live, bound.answers) = (save.live, answers)
        var written = bound
        written.stored = save.stored
        if save.stored != stored { written.fallbacks.insert(stored) }
        return [bound, written]
      }
  }

  /// Whether a save has something to store that was not there when the device was found locked.
  func isTouched(_ rules: Rules) -> Bool {
    guard let base else { return false }
    return !saves(rules).contains { $0.save.stored.compactMap(\.firm) == base.compactMap(\.firm) }
  }

  /// The power is cut: what was not acknowledged may be lost.
  func afterPowerCut() -> [World] {
    fallbacks.union([stored]).map { World(stored: $0, answers: answers) }
  }

  /// The process has ended.
  func ended() -> World { World(stored: stored, fallbacks: fallbacks, answers: answers) }

  /// What may be found by a program that joins otherwise, as it knows other tags: anything that was saved before or while locked.
  func unjoined() -> World {
    var world = ended()
    world.stored = ((stored ?? []) + (base ?? [])).map { $0.asOptional() }
    return world
  }

  /// Restoring died at a path, or has left it out.
  mutating func die(at path: [Int]) {
    func marked(_ variants: [Variant]?) -> [Variant]? {
      variants?.map { variant in
        var variant = variant
        variant.die(at: path.dropFirst())
        return variant
      }
    }
    stored = marked(stored)
    fallbacks = Set(fallbacks.map(marked))
  }

  /// How many states are stored at a path.
  func count(at path: [Int]) -> Int {
    path.dropFirst().reduce(stored ?? []) { variants, name in variants.flatMap { $0.places[name] ?? [] } }.count
  }

  /// Everything was deleted for good.
  mutating func discard() {
    func forget(_ page: inout Live) {
      page.binding = .owner(nil)
      (page.before, page.behind, page.carried, page.isUnsettled) = ([], [], [:], false)
      for index in page.children.indices { forget(&page.children[index]) }
    }
    stored = nil
    fallbacks = []
    base = nil
    if var page = live {
      forget(&page)
      live = page
    }
  }

  // MARK: - The user

  mutating func change(_ path: [Int], _ body: (inout Live) -> Void) { live?.change(path[...], body) }

  /// A page was registered: the values that all have now were met.
  mutating func meet() {
    if var page = live {
      page.meet()
      live = page
    }
  }

  /// The same, if a value that a page has, or had when another was registered, was met before the next save.
  func meeting(_ path: [Int], _ rules: Rules) -> [World] {
    guard let page = live?[path[...]], case .owner(var own?) = page.binding,
      rules.program.isSameIdentity(rules.variant(of: page), own)
    else { return [self] }
    return (page.met + [page.value]).map { value in
      var world = self
      own.value = value
      world.change(path) { $0.binding = .owner(own) }
      return world
    }
  }

  /// The same if a state that a page can't read, and that fits the model as well that it shows now, stays the page's.
  func staying(_ path: [Int], _ kind: Kind, _ rules: Rules) -> World? {
    guard let page = live?[path[...]], case .below(let newer, _) = page.binding, rules.program.accepts(kind, newer)
    else { return nil }
    var world = self
    world.change(path) { ($0.kind, $0.showsOther) = (kind, true) }
    return world
  }

  mutating func push(_ name: Int, _ kind: Kind, on parent: [Int], isPresented: Bool = false) {
    let isDeferred = base != nil
    change(parent) { parent in
      let stored = parent.takePlace(name)
      let isOwner = parent.isOwner && stored.allSatisfy(\.isOptional) && !isDeferred
      var page = Live(
        name: name, kind: kind, value: 0, isPresented: isPresented,
        binding: isOwner ? .owner(nil) : .blank(baseline: 0))
      if isDeferred { page.formerly = stored } else { page.behind = stored }
      page.isUnsettled = !isOwner
      parent.children.append(page)
    }
  }

  /// Takes a page out of its place, in which others' states stay.
  ///
  /// - Parameter isLeaving: Whether it leaves for good, so that a state of its own that it can't read stays, too.
  @discardableResult
  mutating func take(_ path: [Int], isLeaving: Bool = true) -> Live? {
    var taken: Live?
    change(path.dropLast()) { parent in
      guard let index = parent.children.firstIndex(where: { $0.name == path.last }) else { return }
      var page = parent.children.remove(at: index)
      if case .owner(let former?) = page.binding { parent.departed[page.name] = [former.asOptional()] }
      // A state that it can't read goes along.
      if !isLeaving, page.hasNewer { parent.loosenStored(page.name) }
      if isLeaving, case .below(let newer, _) = page.binding {
        // It may be in the place where it was before it has moved.
        var newer = page.hasMoved ? newer.asOptional() : newer
        // Those below it that own their states take them along.
        for child in page.children where child.contains(where: \.isOwner) {
          newer.places[child.name] = newer.places[child.name]?.map { $0.asOptional() }
        }
        parent.carried[page.name] = (page.before + [newer] + page.behind).map { $0.left() }
      } else if !page.others.isEmpty {
        // Of one that shows another model since the last save nothing more is seen than that it has left. One that was edited
        // may have been met since, when another page was registered.
        let isFront = page.hasNewer || page.showsOther || page.hasEdits
        parent.carried[page.name] = isFront ? page.others.map { $0.left() } : page.others
      }
      (page.before, page.behind) = ([], [])
      taken = page
    }
    if let former = taken?.formerly, !former.isEmpty {
      change(path.dropLast()) { $0.carried[path.last ?? 0, default: []] += former }
      taken?.formerly = []
    }
    return taken
  }

  /// Puts a page into another place, or under another name.
  mutating func move(_ path: [Int], to parent: [Int], as name: Int) {
    guard var page = take(path, isLeaving: false) else { return }
    page.name = name
    let isDeferred = base != nil
    change(parent) { parent in
      let stored = parent.takePlace(name)
      if isDeferred { page.formerly = stored } else { page.behind = stored }
      page.hasMoved = true
      parent.children.append(page)
    }
  }
}

extension Live {
  /// What is stored in a place that a page comes to.
  mutating func takePlace(_ name: Int) -> [Variant] {
    (carried.removeValue(forKey: name) ?? []) + (departed.removeValue(forKey: name) ?? [])
  }
}

extension World {
  fileprivate mutating func change(_ path: ArraySlice<Int>, _ body: (inout Live) -> Void) { live?.change(path, body) }
}

extension Array where Element: Hashable {
  /// The elements without repetitions, in order.
  var distinct: [Element] {
    guard count > 1 else { return self }
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
