import FileSystem

/// A simulated disk: the files that programs see, those that would survive a power cut, and the changes between.
///
/// The model is stricter than any real file system: synchronising a file does not make its name durable, and
/// changes to different files may become durable in any order.
struct Disk {
  /// One file, directory, link or other item.
  struct Inode: Hashable {
    var kind: FileStatus.Kind
    var mode: UInt32
    var owner: UInt32
    var content: [UInt8] = []
    var entries: [String: Int] = [:]
  }

  /// A change that is not synchronised yet.
  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case length(Int)
    case add(String, Int)
    case remove(String)
    case move(String, to: String, Int)
  }

  /// A change and the item it changes.
  struct Pending {
    let inode: Int
    let change: Change
  }

  /// The size of the pieces in which writes become durable.
  static let pageSize = 4096
  /// The number of the root directory.
  static let root = 1

  /// What programs see.
  var live: [Int: Inode]
  /// What a power cut leaves.
  var durable: [Int: Inode]
  /// What a sync would make durable, in order.
  var pending: [Pending] = []
  /// Directories whose changes a failed sync has lost.
  private var forgetful: Set<Int> = []
  /// How many changes were made, or became durable or were lost: as long as it stays, a power cut finds the same.
  private(set) var revision = 0
  private var nextInode = Disk.root + 1

  init(owner: UInt32) {
    let root = Inode(kind: .directory, mode: 0o700, owner: owner)
    live = [Disk.root: root]
    durable = live
  }

  /// Makes an item without a name.
  ///
  /// Its kind, mode and owner become durable with its first name.
  mutating func makeInode(_ kind: FileStatus.Kind, mode: UInt32, owner: UInt32) -> Int {
    defer { nextInode += 1 }
    revision += 1
    let inode = Inode(kind: kind, mode: mode, owner: owner)
    live[nextInode] = inode
    durable[nextInode] = inode
    return nextInode
  }

  /// Makes a change that is not durable yet; writes are split into pages.
  mutating func change(_ inode: Int, _ change: Change) {
    revision += 1
    renewNames(of: inode)
    Disk.apply(change, to: inode, in: &live)
    guard case .write(let offset, let bytes) = change else {
      return pending.append(Pending(inode: inode, change: change))
    }
    var start = 0
    while start < bytes.count {
      let room = Disk.pageSize - (offset + start) % Disk.pageSize
      let end = min(start + room, bytes.count)
      pending.append(
        Pending(inode: inode, change: .write(offset: offset + start, bytes: Array(bytes[start..<end]))))
      start = end
    }
  }

  /// A change to a directory writes its block anew, with the names that a failed sync has lost: a block is one page, and a
  /// page that was changed again is written whole.
  private mutating func renewNames(of directory: Int) {
    guard forgetful.remove(directory) != nil else { return }
    let lost = durable[directory]!.entries
    let seen = live[directory]!.entries
    for (name, target) in seen.sorted(by: { $0.key < $1.key }) where lost[name] != target {
      pending.append(Pending(inode: directory, change: .add(name, target)))
    }
    for name in lost.keys.sorted() where seen[name] == nil {
      pending.append(Pending(inode: directory, change: .remove(name)))
    }
  }

  /// Makes all changes to one item durable.
  mutating func synchronize(_ inode: Int) {
    guard pending.contains(where: { $0.inode == inode }) else { return }
    revision += 1
    for one in pending where one.inode == inode { Disk.apply(one.change, to: inode, in: &durable) }
    pending.removeAll { $0.inode == inode }
  }

  /// Makes everything durable that programs see.
  mutating func synchronizeAll() {
    revision += 1
    pending = []
    durable = live
  }

  /// A sync that failed: the kernel forgets what it could not write, and a later sync reports success without it.
  mutating func loseChanges(of inode: Int) {
    revision += 1
    if live[inode]!.kind == .directory { forgetful.insert(inode) }
    pending.removeAll { $0.inode == inode }
  }

  /// Every policy that can make a difference now: of those that leave the same to be found only the first.
  var policies: [PowerCutPolicy] {
    var found: Set<[Int: Inode]> = []
    return possiblePolicies.filter { found.insert(afterPowerCut($0).reachable).inserted }
  }

  /// Named things.
  private var reachable: [Int: Inode] {
    var reachable: [Int: Inode] = [:]
    var waiting = [Disk.root]
    while let number = waiting.popLast() {
      guard reachable[number] == nil, let inode = live[number] else { continue }
      reachable[number] = inode
      waiting += inode.entries.values
    }
    return reachable
  }

  private var possiblePolicies: [PowerCutPolicy] {
    var policies: [PowerCutPolicy] = [.dropAll]
    guard !pending.isEmpty else { return policies }
    policies += (1...pending.count).map { .keepPrefix($0) }
    if pending.count > 1 { policies += (0..<pending.count - 1).map { .loseOne($0) } }
    if case .write(_, let bytes)? = pending.last(where: { $0.change.isWrite })?.change {
      policies += Set([1, bytes.count / 2, bytes.count - 1]).filter { $0 > 0 && $0 < bytes.count }.sorted()
        .map { .tearLast(keeping: $0) }
    }
    return policies + subsets
  }

  /// Every subset of a few changes; of many changes some subsets, the same each time.
  private var subsets: [PowerCutPolicy] {
    guard pending.count > PowerCutPolicy.exhaustiveCount else {
      return (1..<UInt64(1) << UInt64(pending.count)).map { .lose(mask: $0) }
    }
    var state = UInt64(pending.count)
    return (0..<64).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return .lose(mask: state >> 16)
    }
  }

  /// The disk as it is found after a power cut.
  func afterPowerCut(_ policy: PowerCutPolicy) -> Disk {
    var disk = self
    var kept = pending
    switch policy {
    case .dropAll: kept = []
    case .keepPrefix(let count): kept = Array(pending.prefix(count))
    case .loseOne(let index):
      // A power cut at a moment with fewer changes loses none.
      if kept.indices.contains(index) { kept.remove(at: index) }
    case .lose(let mask): kept = pending.indices.filter { mask >> UInt64($0 % 64) & 1 == 0 }.map { pending[$0] }
    case .tearLast(let count):
      guard let index = kept.lastIndex(where: { $0.change.isWrite }),
        case .write(let offset, let bytes) = kept[index].change
      else { break }
      kept[index] = Pending(
        inode: kept[index].inode, change: .write(offset: offset, bytes: Array(bytes.prefix(count))))
    }
    for one in kept { Disk.apply(one.change, to: one.inode, in: &disk.durable) }
    disk.live = disk.durable
    disk.pending = []
    return disk
  }

  /// How long all files are together that have a name.
  var byteCount: Int { reachable.values.reduce(0) { $0 + ($1.kind == .regular ? $1.content.count : 0) } }

  /// The number of names an item has.
  func linkCount(of inode: Int) -> Int {
    var count = 0
    // Plain loops: every look at an item asks for this, and tests run unoptimised.
    for item in live.values where !item.entries.isEmpty {
      for target in item.entries.values where target == inode { count += 1 }
    }
    return count
  }

  private static func apply(_ change: Change, to number: Int, in inodes: inout [Int: Inode]) {
    switch change {
    case .write(let offset, let bytes):
      guard !bytes.isEmpty else { return }
      inodes[number]!.grow(to: offset + bytes.count)
      inodes[number]!.content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .length(let length):
      inodes[number]!.grow(to: length)
      inodes[number]!.content.removeLast(inodes[number]!.content.count - length)
    case .add(let name, let target): inodes[number]!.entries[name] = target
    case .remove(let name): inodes[number]!.entries[name] = nil
    case .move(let name, let newName, let target):
      // A rename is one change of the directory; only a name that still means this item goes away.
      if inodes[number]!.entries[name] == target { inodes[number]!.entries[name] = nil }
      inodes[number]!.entries[newName] = target
    }
  }
}

extension Disk.Inode {
  /// Makes the content at least so long, with zeroes.
  fileprivate mutating func grow(to length: Int) {
    guard content.count < length else { return }
    // As an array: appending a repetition costs a hundred times more without optimisation.
    content += [UInt8](repeating: 0, count: length - content.count)
  }
}

extension Disk.Change {
  /// Whether the change is a write of content.
  fileprivate var isWrite: Bool {
    if case .write = self { true } else { false }
  }
}
