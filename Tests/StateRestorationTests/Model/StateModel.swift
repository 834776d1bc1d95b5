// Imports nothing, of the engine least of all: what a program and its user may expect, without archives, paths of a
// store, deltas or generations.

/// The oracle of the model test: a tree of named numbers as the user sees it, and what would come back at a launch.
struct StateModel {
  /// One controller.
  final class Node {
    var name: Int
    var value: Int
    /// The version of the program that preserved the value; of live nodes, today's.
    var version: Int
    var children: [Node] = []
    var isPresented: Bool
    /// Preserved, and not in this run's hierarchy.
    var isHidden = false
    /// What is preserved of a live node that could not read it: it stays until the node has something newer.
    var unreadable: (value: Int, version: Int, isPresented: Bool)?
    /// What became of it in a run that began while the device was locked; nil in others.
    var sinceLocked: SinceLocked?

    init(name: Int, value: Int = 0, version: Int, isPresented: Bool = false) {
      self.name = name
      self.value = value
      self.version = version
      self.isPresented = isPresented
    }

    /// The node as it is preserved.
    func preserved() -> Node {
      let node = Node(
        name: name, value: unreadable?.value ?? value, version: unreadable?.version ?? version,
        isPresented: unreadable?.isPresented ?? isPresented)
      node.children = children.map { $0.preserved() }
      return node
    }

    /// The live nodes, parents first.
    var live: [Node] { isHidden ? [] : [self] + children.flatMap(\.live) }

    /// How many nodes below it are carried over, counting what they have below them as one.
    var hiddenCount: Int { children.reduce(0) { $0 + ($1.isHidden ? 1 : $1.hiddenCount) } }

    var pages: [Node] { children.filter { !$0.isHidden && !$0.isPresented } }

    var presented: Node? { children.first { !$0.isHidden && $0.isPresented } }

    func child(_ name: Int) -> Node? { children.first { $0.name == name } }

    func contains(_ other: Node) -> Bool { self === other || children.contains { $0.contains(other) } }

    /// Live children first, the presented one after the others; what is hidden keeps its order behind them.
    func arrange() {
      children = pages + (presented.map { [$0] } ?? []) + children.filter(\.isHidden)
    }
  }

  /// What became of a node in a run that began while the device was locked.
  enum SinceLocked {
    /// It was there from the beginning.
    case asItWas
    /// It turned up: what was preserved at its place counts more.
    case turnedUp
    /// The user has changed it: it counts more than what was preserved.
    case touched
  }

  /// What was saved while the device was locked.
  enum Pending {
    /// Everything.
    case whole(Node)
    /// The tree of a run that began locked, in which only what has a value was touched.
    case touched(Touched)
  }

  /// A node of a run that began locked.
  struct Touched {
    var name: Int
    var isPresented: Bool
    /// Nil when only its place counts.
    var state: (value: Int, version: Int)?
    /// Whether what was preserved at its place counts more.
    var isUntouched: Bool
    var children: [Touched]
  }

  /// The program's version in this run.
  var version = 1
  var root = Node(name: 0, version: 1)
  private(set) var saved: Node?
  private(set) var pending: [Pending] = []
  private var ownPending: Int?
  private var owesTouched = false
  /// Whether anything was changed or turned up in a run that began locked, even if it is gone again.
  private var wasTouched = false
  private(set) var isLocked = false
  /// Whether this run began while something preserved could not be read.
  private(set) var isDeferred = false

  var hasState: Bool { saved != nil || !pending.isEmpty }

  func parent(of node: Node) -> Node? {
    func find(_ top: Node) -> Node? {
      if top.children.contains(where: { $0 === node }) { return top }
      for child in top.children { if let found = find(child) { return found } }
      return nil
    }
    return find(root)
  }

  // MARK: - What the user does

  mutating func push(_ name: Int, on parent: Node) -> Bool {
    guard parent.child(name) == nil else { return false }
    let node = Node(name: name, version: version)
    if isDeferred {
      node.sinceLocked = .turnedUp
      wasTouched = true
    }
    parent.children.append(node)
    parent.arrange()
    return true
  }

  func present(_ name: Int, on parent: Node) -> Bool {
    // What is presented makes room for it.
    guard parent.child(name) == nil || parent.child(name) === parent.presented else { return false }
    dismiss(parent)
    parent.children.append(Node(name: name, version: version, isPresented: true))
    parent.arrange()
    return true
  }

  func dismiss(_ parent: Node) {
    let presented = parent.presented
    parent.children.removeAll { $0 === presented }
  }

  func pop(_ node: Node) -> Bool {
    guard let parent = parent(of: node) else { return false }
    parent.children.removeAll { $0 === node }
    return true
  }

  func rename(_ node: Node, to name: Int) -> Bool {
    guard let parent = parent(of: node), parent.child(name) == nil else { return false }
    node.name = name
    return true
  }

  func move(_ node: Node, to target: Node) -> Bool {
    guard let parent = parent(of: node), !node.isPresented, !node.contains(target), target.child(node.name) == nil
    else {
      return false
    }
    parent.children.removeAll { $0 === node }
    target.children.append(node)
    target.arrange()
    return true
  }

  func reverse(_ node: Node) {
    node.children = node.pages.reversed() + node.children.filter { $0.isPresented || $0.isHidden }
    node.arrange()
  }

  mutating func edit(_ node: Node, _ value: Int) {
    guard node.value != value else { return }
    node.unreadable = nil
    node.value = value
    guard isDeferred else { return }
    node.sinceLocked = .touched
    wasTouched = true
  }

  // MARK: - What the program does

  /// The hierarchy is saved, and acknowledged.
  mutating func save() {
    if !isLocked {
      saved = root.preserved()
      pending = []
      ownPending = nil
      return
    }
    if let own = ownPending { pending.remove(at: own) }
    ownPending = pending.count
    pending.append(isDeferred ? .touched(touched(root)) : .whole(root.preserved()))
  }

  /// Whether a run that began locked has anything that may be saved, or has to take back what it saved before.
  var isTouched: Bool { ownPending != nil || owesTouched || wasTouched }

  /// A save of what was touched failed: the next one writes, whatever is left of it.
  mutating func failSave() { owesTouched = isDeferred && isTouched }

  private func touched(_ node: Node) -> Touched {
    Touched(
      name: node.name, isPresented: node.isPresented,
      state: node.sinceLocked == .asItWas ? nil : (node.value, node.version),
      isUntouched: node.sinceLocked == .turnedUp, children: node.children.map(touched))
  }

  mutating func lock() { isLocked = true }

  /// The device is unlocked; a run that began locked gets its state now, where nothing was touched.
  mutating func unlock(hiding: Int?) {
    guard isLocked else { return }
    isLocked = false
    guard isDeferred else {
      // What was saved whole becomes the state.
      if ownPending != nil { save() }
      return
    }
    isDeferred = false
    owesTouched = false
    wasTouched = false
    // What this run saved while locked is older than what it has in memory; it stays on disk until the next save.
    let own = ownPending
    ownPending = nil
    if let state = state(leavingOut: own, with: .touched(touched(root))) {
      root = launched(state, hiding: hiding, over: root)
    }
    func settle(_ node: Node) {
      node.sinceLocked = nil
      node.children.forEach(settle)
    }
    settle(root)
  }

  /// What would come back if the device were unlocked now; with what is live and not saved, if it is given.
  private func state(leavingOut own: Int? = nil, with live: Pending? = nil) -> Node? {
    var state = saved?.preserved()
    for item in pending.indices.filter({ $0 != own }).map({ pending[$0] }) + (live.map { [$0] } ?? []) {
      switch item {
      case .whole(let node): state = node.preserved()
      case .touched(let touched):
        let top = state ?? Node(name: touched.name, version: version)
        lay(touched, over: top, isNew: false)
        state = top
      }
    }
    return state
  }

  private func lay(_ touched: Touched, over node: Node, isNew: Bool) {
    if let state = touched.state, isNew || !touched.isUntouched {
      (node.value, node.version) = state
      node.isPresented = touched.isPresented
    }
    for child in touched.children {
      if let there = node.child(child.name) {
        lay(child, over: there, isNew: false)
      } else {
        let new = Node(name: child.name, version: version, isPresented: child.isPresented)
        lay(child, over: new, isNew: true)
        node.children.append(new)
      }
    }
  }

  /// The process ends without notice, and the program is launched again, perhaps in another version.
  mutating func relaunch(version: Int, hiding: Int?) {
    self.version = version
    ownPending = nil
    owesTouched = false
    wasTouched = false
    isDeferred = isLocked && hasState
    root = Node(name: 0, version: version)
    if isDeferred {
      root.sinceLocked = .asItWas
    } else if let state = state() {
      root = launched(state, hiding: hiding, over: nil)
    }
  }

  /// The live tree that a state gives: nodes of a name stay away, and values of a later version are not read.
  private func launched(_ state: Node, hiding: Int?, over known: Node?) -> Node {
    let node = known ?? Node(name: state.name, version: version, isPresented: state.isPresented)
    let isKept = known?.sinceLocked == .touched
    if state.version > version {
      node.unreadable = isKept ? nil : (state.value, state.version, state.isPresented)
    } else if !isKept {
      node.value = state.value
    }
    node.version = version
    // Of several that were presented, the live one stays, or else the first is: the others are not shown.
    var presented = known?.presented?.name
    var children: [Node] = []
    for child in state.children {
      let live = known?.children.first { $0.name == child.name && !$0.isHidden }
      if child.isPresented, presented == nil { presented = child.name }
      if live == nil, child.name == hiding || (child.isPresented && child.name != presented) {
        child.isHidden = true
        children.append(child)
      } else {
        children.append(launched(child, hiding: hiding, over: live))
      }
    }
    children += (known?.children ?? []).filter { old in
      !old.isHidden && !children.contains { $0 === old }
    }
    node.children = children
    node.arrange()
    return node
  }

  /// The live tree is restored to what is saved, without a launch: what was hidden comes back too.
  mutating func restoreRunning() {
    save()
    root = launched(root.preserved(), hiding: nil, over: root)
  }

  /// The live tree in one line.
  var description: String { Self.describe(root) }

  private static func describe(_ node: Node) -> String {
    var parts = node.pages.map(describe)
    if let presented = node.presented { parts.append("^" + describe(presented)) }
    return "\(node.name)=\(node.value)" + (parts.isEmpty ? "" : "(\(parts.joined(separator: " ")))")
  }
}
