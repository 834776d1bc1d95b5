import FoundationEssentials

/// Memory that an archive is put together in: its records as they come, and before them the parts that are known last.
struct ImageMemory: ~Copyable {
  /// What is written to.
  var writer: ByteWriter
  /// The bytes left free in front.
  private var front: Int

  /// Makes room for the expected bytes; more is made when it is needed.
  init(front: Int, expecting byteCount: Int) {
    writer = ByteWriter(capacity: front + byteCount)
    writer.skip(front)
    self.front = front
  }

  /// The bytes written behind those left free.
  var count: Int { writer.count - front }

  /// Writes the entries of an index, each with something added.
  mutating func append(_ entries: [UInt64], adding base: UInt64) {
    writer.writeNumbers(entries, width: 8) { $0 + base }
  }

  /// Puts bytes before everything that was written.
  mutating func prepend(_ bytes: Borrowed<UInt8>) {
    if bytes.count > front { makeRoom(bytes.count - front) }
    front -= bytes.count
    replace(with: bytes)
  }

  /// Puts bytes in the place of the first ones.
  mutating func replace(with bytes: Borrowed<UInt8>) { writer.overwrite(at: front, with: bytes) }

  /// Lends the bytes from a position on.
  func withBytes<Result>(from position: Int, _ body: (Borrowed<UInt8>) -> Result) -> Result {
    writer.withBytes(from: front + position, body)
  }

  /// Hands everything over as it lies.
  consuming func takeData() -> Data { writer.takeData(from: front) }

  private mutating func makeRoom(_ missing: Int) {
    var moved = ByteWriter(capacity: missing + writer.count)
    moved.skip(missing)
    writer.withBytes { moved.write($0) }
    writer = moved
    front += missing
  }
}
