// Imports nothing.

/// One of the things that may be true of the program and its disk: several after a save that was cut off.
struct World: Hashable {
  var life = Life()
  /// What a power cut may bring back: what was acknowledged last.
  var fallbacks: Set<Disk> = []

  /// What is on the disk.
  struct Disk: Hashable {
    var stored: Table?
    var pending: [Table]
  }

  var disk: Disk {
    get { Disk(stored: life.stored, pending: life.pending) }
    set {
      (life.stored, life.pending) = (newValue.stored, newValue.pending)
      life.noteDisk()
    }
  }

  /// A save was acknowledged: it and all that it builds on survives a power cut; a run that can't read what is stored does not build
  /// on that.
  ///
  /// - Parameter isDeferred: Whether nothing was written, as nothing may be while the device is locked.
  mutating func save(_ known: Knowledge, isDeferred: Bool = false) -> Outcome {
    let outcome = life.save(known)
    if isDeferred { return outcome }
    let isBlind = life.isLocked && !life.isPartlyRead
    fallbacks = Set(
      fallbacks.filter { isBlind && $0.stored != life.stored }.map { disk in
        Disk(stored: disk.stored, pending: disk.pending + life.pending.dropFirst(life.earlierRuns))
      })
    return outcome
  }

  /// A save failed, or nobody knows: everything that may be true.
  func saving(_ known: Knowledge) -> [World] {
    var (failed, saved) = (self, self)
    _ = failed.life.save(known, isAcknowledged: false)
    _ = saved.life.save(known)
    var written = failed
    written.disk = saved.disk
    if saved.disk != disk {
      written.fallbacks.insert(disk)
      saved.fallbacks.insert(disk)
    }
    guard life.isPartlyRead, saved.disk.pending != disk.pending, saved.disk.stored != disk.stored else {
      return [failed, written, saved]
    }
    // What could not be read is written first.
    var half = failed
    half.disk.pending = saved.disk.pending
    half.life.pending[half.life.pending.count - 1].forgetHidden()
    half.fallbacks.insert(disk)
    written.fallbacks.insert(half.disk)
    saved.fallbacks.insert(half.disk)
    return [failed, half, written, saved]
  }

  /// A save had no room, and did not fail as nothing is lost by that; nil when something would be.
  func waitingForRoom(_ known: Knowledge) -> World? {
    var (failed, saved) = (self, self)
    _ = failed.life.save(known, isAcknowledged: false)
    _ = saved.life.save(known)
    let hasEdit = saved.life.table.rows.values.contains { $0.records.contains { !$0.isFirst } }
    return life.stored != nil || !life.pending.isEmpty || life.isLocked || hasEdit ? nil : failed
  }

  /// The power is cut: what was not acknowledged may be lost.
  func afterPowerCut() -> [World] {
    ([disk] + Array(fallbacks)).map { disk in
      var world = World()
      world.disk = disk
      return world
    }
  }

  /// The process has ended.
  mutating func end() { life.end() }
}

/// What is on the screen: of the program, or of the oracle's objects.
struct Sight: Hashable {
  var name: String
  var tag: String
  var model: String?
  var value: Value
  var isPresented: Bool
  var children: [Sight]

  /// The pages in one line.
  var text: String {
    let size = value.filling > 0 ? "+\(value.filling)" : ""
    let below = children.map(\.text).joined(separator: " ")
    return (isPresented ? "^" : "") + "\(name)=\(value.items.map(String.init).joined(separator: "+"))\(size):\(tag)"
      + (model.map { "‹\($0)›" } ?? "") + (below.isEmpty ? "" : "(\(below))")
  }

  /// The first thing in which two differ.
  func difference(_ other: Sight, at path: String) -> String? {
    guard name == other.name, tag == other.tag, model == other.model, isPresented == other.isPresented else {
      return "\(path) is \(text), and should be \(other.text)"
    }
    guard value == other.value else {
      return "\(path)/\(name) has \(value.items) (\(value.filling) bytes), and should have \(other.value.items) "
        + "(\(other.value.filling) bytes)"
    }
    guard children.map(\.name) == other.children.map(\.name) else {
      return "\(path)/\(name) holds \(children.map(\.name)), and should hold \(other.children.map(\.name))"
    }
    return zip(children, other.children).lazy.compactMap { $0.difference($1, at: "\(path)/\(name)") }.first
  }
}

extension Life {
  /// What is on the screen.
  var sight: Sight? { root.map { sight(of: $0) } }

  private func sight(of id: Int) -> Sight {
    let object = objects[id]!
    return Sight(
      name: object.identifier, tag: object.tag, model: object.model, value: object.value,
      isPresented: object.isPresented, children: object.children.map { sight(of: $0) })
  }
}
