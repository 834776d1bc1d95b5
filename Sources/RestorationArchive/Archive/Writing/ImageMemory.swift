import FoundationEssentials

/// Memory that an archive is put together in: its records as they come, and before them what is known last.
@safe struct ImageMemory: ~Copyable, ByteSink {
  private var memory: UnsafeMutableRawBufferPointer
  /// The bytes left free in front.
  private var front: Int
  /// The bytes written behind them.
  private(set) var count = 0

  /// Makes room for what is expected; more is made when it is needed.
  init(front: Int, expecting byteCount: Int) {
    unsafe memory = .allocate(byteCount: front + byteCount, alignment: 16)
    self.front = front
  }

  deinit { unsafe memory.deallocate() }

  /// Makes sure that so many bytes can be written without moving what there is.
  @inline(__always)
  mutating func reserve(_ byteCount: Int) {
    if unsafe memory.count - front - count < byteCount {
      unsafe move(front: front, byteCount: max(2 * memory.count, front + count + byteCount))
    }
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe memory[front + count] = byte
    count += 1
  }

  @inline(__always)
  mutating func append(bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(front + count)...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Writes the entries of an index, each with something added.
  mutating func append(_ entries: [UInt64], adding base: UInt64) {
    reserve(8 * entries.count)
    for entry in entries {
      unsafe memory.storeBytes(of: (entry + base).littleEndian, toByteOffset: front + count, as: UInt64.self)
      count += 8
    }
  }

  /// Puts bytes before everything that was written.
  mutating func prepend(_ bytes: [UInt8]) {
    if bytes.count > front { move(front: bytes.count, byteCount: bytes.count + count) }
    front -= bytes.count
    count += bytes.count
    replace(with: bytes)
  }

  /// Puts bytes in the place of the first ones.
  mutating func replace(with bytes: [UInt8]) {
    precondition(bytes.count <= count, "there is less than is to be replaced")
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory[front...]).copyMemory(from: bytes)
    }
  }

  /// Lends what was written from a position on.
  func withBytes<Result>(from position: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(rebasing: memory[(front + position)..<(front + count)]))
  }

  /// Hands everything over as it lies: copying it once more would cost as much as putting it together.
  consuming func takeData() -> Data {
    let (memory, first, count) = unsafe (self.memory, self.memory.baseAddress! + front, self.count)
    discard self
    return unsafe Data(bytesNoCopy: first, count: count, deallocator: .custom { _, _ in unsafe memory.deallocate() })
  }

  private mutating func move(front newFront: Int, byteCount: Int) {
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    unsafe withBytes(from: 0) { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[newFront...]).copyMemory(from: bytes)
    }
    unsafe memory.deallocate()
    unsafe memory = target
    front = newFront
  }
}
