internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// Rows whose objects get a class of protection that has no key, while something in or below them can't be read.
///
/// Such a row can't leave its part, as the rows below it that can't be read could not be found without it. So it loses its name, class and model, and
/// is *hidden*: it has random bits for a name. The table of what can't be read has a *token* of that name below the row of the
/// object. The merge at the unlock finds the hidden row by it, and what is in and below that is where it was.
extension Table {
  /// Names for the rows that objects have left, where they are still there.
  func namesToHide(
    _ rows: [CaptureBatch.Key: NodeID]
  ) throws(ArchiveError) -> [CaptureBatch.Key: RestorationIdentifier] {
    var names: [CaptureBatch.Key: RestorationIdentifier] = [:]
    for (key, former) in rows {
      let row = currentRow(former)
      guard absent.contains(row), holders[row] == nil, let node = try writer.node(row) else { continue }
      var name = RowName.hidden(writer.drawBits(), writer.drawBits())
      while try writer.child(of: node.parent, identifier: name) != nil {
        name = RowName.hidden(writer.drawBits(), writer.drawBits())
      }
      names[key] = name
    }
    return names
  }

  /// Takes the names, classes and models of rows that objects have left.
  mutating func hide(
    _ rows: [CaptureBatch.Key: NodeID], as names: [CaptureBatch.Key: RestorationIdentifier]
  ) throws(ArchiveError) {
    for (key, name) in names.sorted(by: { $0.key < $1.key }) {
      guard let row = rows[key].map(currentRow), let node = try writer.node(row), let place = try place(of: row) else {
        continue
      }
      if node.attributes.flags.contains(.numbered) { forgetNumber(of: row, at: place) }
      try writer.rename(row, to: name)
      var attributes = node.attributes
      (attributes.classTag, attributes.model, attributes.role, attributes.priority) = (nil, nil, nil, .normal)
      // What is left tells of records, or is said of every row without an object.
      attributes.flags.formIntersection(RestorationArchive.NodeFlags.ofRecords.union([.absent, .carriedOver, .closed]))
      try writer.setAttributes(attributes, of: row)
    }
  }

  /// Notes below the rows of objects what the rows that they had elsewhere are to be called.
  mutating func addTokens(_ names: [CaptureBatch.Key: RestorationIdentifier]) throws(ArchiveError) {
    for (key, name) in names.sorted(by: { $0.key < $1.key }) {
      guard let row = try requireRow(key), try writer.child(of: row, identifier: name) == nil else { continue }
      let token = try writer.insert(name, parent: row, attributes: .init(priority: .required))
      // With a value, so that the table is written, and the row stays when its object leaves.
      try writer.setRecord(
        of: token, entries: [.init(key: "hidden", value: true)], attributes: .init(priority: .required))
    }
  }

  /// The hidden rows, by their names.
  var hiddenRows: [RestorationIdentifier: NodeID] {
    get throws(ArchiveError) {
      var rows: [RestorationIdentifier: NodeID] = [:]
      for row in absent {
        if let name = try writer.node(row)?.identifier, RowName.isHidden(name) { rows[name] = row }
      }
      return rows
    }
  }

  /// Gives a hidden row the name, class and model of its object again; one that the object has had since becomes one with it.
  ///
  /// - Parameters:
  ///   - row: The row of the object's key; nil when there is none.
  ///   - node: What the other table says of the object.
  /// - Returns: The row of the object.
  mutating func reveal(
    _ hidden: NodeID, in row: NodeID?, as node: RestorationArchive.Node, at place: Place
  ) throws(ArchiveError) -> NodeID {
    revealed += 1
    if let row, row != hidden {
      try move(contentsOf: hidden, into: row)
      return currentRow(row)
    }
    try move(hidden, to: place)
    let found = currentRow(hidden)
    guard var attributes = try writer.node(found)?.attributes else { return found }
    (attributes.model, attributes.role, attributes.priority) = (
      node.attributes.model, node.attributes.role, node.attributes.priority
    )
    attributes.takeClass(of: node.attributes)
    attributes.flags.formUnion(node.attributes.flags.intersection([.view, .shared, .byHand]))
    try writer.setAttributes(attributes, of: found)
    return found
  }
}
