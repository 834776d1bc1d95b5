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

  /// What a save of the program stores; one of these.
  func next(_ rules: Rules) -> [(stored: [Variant], live: Live)] {
    guard var live else { return [] }
    if let base { return rules.joins(live, to: base).map { ($0, live) } }
    return [(rules.commit(&live), live)]
  }

  // MARK: - Ends of a save

  /// A save was acknowledged: it and all that it builds on survives a power cut.
  func acknowledged(_ rules: Rules) -> [World] {
    next(rules).map { stored, live in World(stored: stored, live: live, base: base) }
  }

  /// A save has failed, was cut off, or doesn't know: everything that may be true.
  func uncertain(_ rules: Rules) -> [World] {
    // What was not stored, but was there for a moment, may be kept as well.
    [self]
      + next(rules).flatMap { stored, live in
        var bound = self
        bound.live = live
        var written = bound
        written.stored = stored
        if stored != self.stored { written.fallbacks.insert(self.stored) }
        return [bound, written]
      }
  }

  /// Whether a save has something to store that was not there when the device was found locked.
  func isTouched(_ rules: Rules) -> Bool {
    guard let live, let base else { return false }
    return !rules.joins(live, to: base).contains { $0.compactMap(\.firm) == base.compactMap(\.firm) }
  }

  /// The power is cut: what was not acknowledged may be lost.
  func afterPowerCut() -> [World] {
    fallbacks.union([stored]).map { World(stored: $0) }
  }

  /// The process has ended.
  func ended() -> World { World(stored: stored, fallbacks: fallbacks) }

  /// Restoring died at a path, or has left it out.
  mutating func die(at path: [Int]) {
    for index in (stored ?? []).indices { stored?[index].die(at: path.dropFirst()) }
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

  mutating func push(_ name: Int, _ kind: Kind, on parent: [Int], isPresented: Bool = false) {
    let isDeferred = base != nil
    change(parent) { parent in
      let stored = parent.takePlace(name)
      let isOwner = parent.isOwner && stored.allSatisfy(\.isOptional) && !isDeferred
      var page = Live(
        name: name, kind: kind, value: 0, isPresented: isPresented,
        binding: isOwner ? .owner(nil) : .blank(baseline: 0))
      page.behind = stored
      page.isUnsettled = !isOwner
      parent.children.append(page)
    }
  }

  /// Takes a page out of its place, in which others' states stay.
  @discardableResult
  mutating func take(_ path: [Int], _ rules: Rules) -> Live? {
    var taken: Live?
    change(path.dropLast()) { parent in
      guard let index = parent.children.firstIndex(where: { $0.name == path.last }) else { return }
      var page = parent.children.remove(at: index)
      if case .owner(let former?) = page.binding { parent.departed[page.name] = [former.asOptional()] }
      let left = rules.left(by: page)
      if !left.isEmpty { parent.carried[page.name] = left }
      (page.before, page.behind) = ([], [])
      taken = page
    }
    return taken
  }

  /// Puts a page into another place, or under another name.
  mutating func move(_ path: [Int], to parent: [Int], as name: Int, _ rules: Rules) {
    guard var page = take(path, rules) else { return }
    page.name = name
    change(parent) { parent in
      page.behind = parent.takePlace(name)
      if !page.isOwner { page.isUnsettled = true }
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
