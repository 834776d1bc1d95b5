/// One identity's state in a place, with the places below it.
struct Variant: Hashable, Sendable {
  var tag: String?
  /// 0 for none.
  var model: Int
  /// The version of the program that saved it.
  var version: Int
  var value: Int
  /// What is below it, by name: the variants of each place, newest first.
  var places: [Int: [Variant]] = [:]
  var isPresented = false
  /// Whether a rule leaves open that it is there.
  var isOptional = false
  /// Whether restoring died at it, so that it may be left out for as long as nobody asks for it.
  var diedAt = false

  /// Whether the owner of what was in front of it has left the place: nobody is made for it any more.
  var isLeft = false

  /// The same in a place whose owner has left.
  func left() -> Variant {
    var copy = self
    copy.isLeft = true
    return copy
  }

  /// The same with everything in it optional.
  func asOptional() -> Variant {
    var copy = self
    copy.isOptional = true
    copy.places = places.mapValues { $0.map { $0.asOptional() } }
    return copy
  }

  /// Notes that restoring died at a path below its place, or that it was left out for that.
  mutating func die(at path: ArraySlice<Int>) {
    guard let name = path.first else { return diedAt = true }
    for index in (places[name] ?? []).indices { places[name]?[index].die(at: path.dropFirst()) }
  }

  /// The same with everything optional in it whose model object is gone.
  func losing(_ models: Set<Int>) -> Variant {
    if models.contains(model) { return asOptional() }
    var copy = self
    copy.places = places.mapValues { $0.map { $0.losing(models) } }
    return copy
  }

  /// The same without what is optional.
  var firm: Variant? { isOptional ? nil : firmBelow }

  private var firmBelow: Variant {
    var copy = self
    copy.diedAt = false
    copy.places = places.compactMapValues { variants in
      let firm = variants.compactMap(\.firm)
      return firm.isEmpty ? nil : firm
    }
    return copy
  }
}

/// A page of the running program, and what it has of the state.
struct Live: Hashable {
  /// What a page has of what is stored in its place.
  enum Binding: Hashable {
    /// A state is the page's own, as it was restored or saved last; nil for one that was not saved yet.
    case owner(Variant?)
    /// Nothing is, and nothing is saved before the page differs from this.
    case blank(baseline: Int)
    /// The state in its place is its own, and of a newer version: what is below it may be below the page.
    case below(Variant, baseline: Int)
  }

  var name: Int
  var kind: Kind
  var value: Int
  var isPresented = false
  var binding: Binding
  /// What is stored in its place for others, before and behind its own.
  var before: [Variant] = []
  var behind: [Variant] = []
  var children: [Live] = []
  /// What is stored in places below it that no page is in.
  var carried: [Int: [Variant]] = [:]
  /// What was stored for pages that have left it since the last save; who comes to their places may be taken for them.
  var departed: [Int: [Variant]] = [:]
  /// Whether it came to a place in which something was stored, or to a page that is blank, after restoring: then rules leave
  /// open whether it is saved before it is edited.
  var isUnsettled = false

  /// What it was given when it was registered late, as long as no save has met it.
  var given: Variant?
  /// The values that it had when others were registered, since the last save.
  var met: [Int] = []
  /// Whether it shows another model than at the last save.
  var showsOther = false
  /// Whether it has come from another place since the last save.
  var hasMoved = false
  /// What pages in its place had for other models since they were met on a locked device.
  var formerly: [Variant] = []

  var others: [Variant] { before + behind }

  /// The model object whose state it has: while it shows none, that of the state that it was given; 0 for none.
  var model: Int {
    switch binding {
    case .owner(let own?) where kind.model == 0: own.model
    case .below(let newer, _) where kind.model == 0: newer.model
    default: kind.model
    }
  }

  var isOwner: Bool { if case .owner = binding { true } else { false } }

  /// Whether a save has stored it, or a restoration has given it its state.
  var isStored: Bool { if case .owner(_?) = binding { true } else { false } }

  /// Whether it takes a state along that it can't read.
  var hasNewer: Bool { if case .below = binding { true } else { false } }

  /// Whether a save has something of it to store, or of what is below it.
  var hasEdits: Bool { isOwner || isEdited || children.contains(where: \.hasEdits) }

  /// Whether the user has edited it since it was met without state.
  var isEdited: Bool {
    switch binding {
    case .owner: false
    case .blank(let baseline), .below(_, let baseline): value != baseline
    }
  }

  /// The values that it, and those below it, have now were met.
  mutating func meet() {
    if case .owner(let own?) = binding, own.value != value, met.last != value { met.append(value) }
    for index in children.indices { children[index].meet() }
  }

  /// What is stored below it in a place that no page is in was removed.
  mutating func forget(_ name: Int) {
    carried[name] = nil
    if case .owner(var own?) = binding {
      own.places[name] = nil
      binding = .owner(own)
    }
  }

  /// Leaves open whether what its own state, too new for it, has in a place below it is still there.
  mutating func loosenStored(_ name: Int) {
    guard case .below(var newer, let baseline) = binding else { return }
    newer.places[name] = newer.places[name]?.map { $0.asOptional() }
    binding = .below(newer, baseline: baseline)
  }

  /// Has a page that owns nothing, and those below it, come by themselves.
  mutating func unsettle() {
    if !isOwner { isUnsettled = true }
    for index in children.indices { children[index].unsettle() }
  }

  /// Takes what it has, and what those below it have, for how they came.
  mutating func forgetEdits() {
    binding = .blank(baseline: value)
    for index in children.indices { children[index].forgetEdits() }
  }

  /// Has it, and those below it, come without the models of the states that they were given, unless they name them.
  mutating func forgetModel() {
    if case .owner(var own?) = binding, kind.model == 0 {
      own.model = 0
      binding = .owner(own)
    }
    for index in children.indices { children[index].forgetModel() }
  }

  /// Leaves open whether what is stored below it for others, and what its pages had before, is there.
  mutating func loosen() {
    (before, behind) = (before.map { $0.asOptional() }, behind.map { $0.asOptional() })
    if case .owner(let former?) = binding { binding = .owner(former.asOptional()) }
    loosenBelow()
  }

  /// The same for what is below it alone.
  mutating func loosenBelow() {
    carried = carried.mapValues { $0.map { $0.asOptional() } }
    for index in children.indices { children[index].loosen() }
  }

  /// Whether it, or a page below it, is such a one.
  func contains(where isSuch: (Live) -> Bool) -> Bool {
    isSuch(self) || children.contains { $0.contains(where: isSuch) }
  }

  /// Whether something is stored in its place or below it that is no page's.
  var hasCarried: Bool { !carried.isEmpty || !others.isEmpty || children.contains(where: \.hasCarried) }

  /// The page at a path that begins with its own name.
  subscript(path: ArraySlice<Int>) -> Live? {
    guard path.first == name else { return nil }
    let rest = path.dropFirst()
    guard let next = rest.first else { return self }
    return children.first { $0.name == next }?[rest]
  }

  /// Changes the page at a path.
  mutating func change(_ path: ArraySlice<Int>, _ body: (inout Live) -> Void) {
    let rest = path.dropFirst()
    guard let next = rest.first else { return body(&self) }
    guard let index = children.firstIndex(where: { $0.name == next }) else { return }
    children[index].change(rest, body)
  }
}

/// A page as it is seen on the screen after a restoration.
struct Sight {
  var name: Int
  var kind: Kind
  var value: Int
  var isPresented: Bool
  /// What it had before; nil for a page that the restoration has made.
  var before: Int?
  var children: [Sight]
}

extension Variant: CustomStringConvertible {
  /// The state in a few characters: what a message shows.
  var description: String {
    let below = places.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }.joined(separator: " ")
    return (isOptional ? "?" : "") + (tag ?? "-") + (model == 0 ? "" : "/\(model)") + " v\(version)=\(value)"
      + (isPresented ? "^" : "") + (isLeft ? "~" : "") + (diedAt ? "†" : "") + (below.isEmpty ? "" : " {\(below)}")
  }
}
