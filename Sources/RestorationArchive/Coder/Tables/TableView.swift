/// The tables of an archive as borrowed memory.
struct TableView {
  let keyText: Borrowed<UInt8>
  let keyEnds: Borrowed<UInt32>
  let fields: Borrowed<UInt32>
  let shapeEnds: Borrowed<UInt32>

  /// The number of shapes.
  @inline(__always)
  var shapeCount: Int { shapeEnds.count }

  /// Tables of nothing.
  static var empty: TableView {
    TableView(keyText: Borrowed(), keyEnds: Borrowed(), fields: Borrowed(), shapeEnds: Borrowed())
  }

  /// The fields of a shape, which must exist.
  @inline(__always)
  func shape(_ number: Int) -> Borrowed<UInt32> {
    fields[(number == 0 ? 0 : Int(shapeEnds[number - 1]))..<Int(shapeEnds[number])]
  }

  /// The text of a key, which must exist.
  @inline(__always)
  func key(_ number: Int) -> Borrowed<UInt8> {
    keyText[(number == 0 ? 0 : Int(keyEnds[number - 1]))..<Int(keyEnds[number])]
  }
}

extension TableContent {
  /// Lends the tables as memory.
  @inline(__always)
  func withView<Result>(_ body: (TableView) throws -> Result) rethrows -> Result {
    try keyText.withBorrowed { keyText in
      try keyEnds.withBorrowed { keyEnds in
        try fields.withBorrowed { fields in
          try shapeEnds.withBorrowed { shapeEnds in
            try body(TableView(keyText: keyText, keyEnds: keyEnds, fields: fields, shapeEnds: shapeEnds))
          }
        }
      }
    }
  }
}

/// The keys and shapes of an archive in memory of their own, which stays where it is: for those who decode many records.
///
/// Lending arrays as memory takes a closure for each of them, and a record asks for four, time after time.
package final class PinnedTables: @unchecked Sendable {
  // Sendable: the memory is written before anybody else sees it, and never again.

  private let memory = SessionMemory()
  /// What the tables hold.
  let view: TableView
  /// A number that only these tables have.
  let identity = DecodePool.makeIdentity()

  /// Copies tables.
  init(_ content: TableContent) {
    view = content.withView { [memory] in
      TableView(
        keyText: $0.keyText.copied(in: memory), keyEnds: $0.keyEnds.copied(in: memory),
        fields: $0.fields.copied(in: memory), shapeEnds: $0.shapeEnds.copied(in: memory))
    }
  }
}
