import Foundation

/// A serializer written by hand for the typical workload alone: what the best of generated code could do.
///
/// Fixed order, no names, no checks of types; only bounds are checked when reading.
@safe
struct HandwrittenWriter {
  private let buffer: UnsafeMutableRawBufferPointer
  /// The number of bytes written.
  private(set) var count = 0

  /// Makes a writer into memory big enough for everything.
  init(_ buffer: UnsafeMutableRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  @inline(__always)
  private mutating func write<T: BitwiseCopyable>(_ value: T) {
    unsafe buffer.storeBytes(of: value, toByteOffset: count, as: T.self)
    count += MemoryLayout<T>.size
  }

  @inline(__always)
  private mutating func write(length: Int) {
    write(UInt32(truncatingIfNeeded: length))
  }

  @inline(__always)
  private mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      write(length: utf8.count)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: UnsafeRawBufferPointer(utf8))
      count += utf8.count
    }
  }

  /// Writes a node.
  mutating func write(_ node: Node<Typical.State>) {
    write(node.identifier)
    write(node.classTag)
    write(node.version)
    let state = node.state
    write(state.selection)
    write(state.scrollX)
    write(state.scrollY)
    write(state.title)
    write(state.isEditing)
    write(state.lastOpened != nil)
    if let date = state.lastOpened { write(date.timeIntervalSinceReferenceDate) }
    write(length: state.expanded.count)
    for number in state.expanded { write(number) }
    write(length: state.recent.count)
    for text in state.recent { write(text) }
    write(UInt8(Self.orders.firstIndex(of: state.order) ?? 0))
    write(state.frame.x)
    write(state.frame.y)
    write(state.frame.width)
    write(state.frame.height)
    write(length: state.counts.count)
    for (key, value) in state.counts {
      write(key)
      write(value)
    }
    write(length: state.thumbnail.count)
    unsafe state.thumbnail.withUnsafeBytes {
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: $0)
    }
    count += state.thumbnail.count
    write(state.document != nil)
    if let document = state.document { write(document.uuid) }
  }

  /// The orders by their number.
  static let orders: [Typical.Order] = [.name, .date, .size, .kind]
}

/// Reads what ``HandwrittenWriter`` wrote.
@safe
struct HandwrittenReader {
  private let buffer: UnsafeRawBufferPointer
  private var position = 0

  /// Makes a reader of bytes.
  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  @inline(__always)
  private mutating func read<T: BitwiseCopyable>(_ type: T.Type = T.self) -> T {
    unsafe precondition(position + MemoryLayout<T>.size <= buffer.count)
    defer { position += MemoryLayout<T>.size }
    return unsafe buffer.loadUnaligned(fromByteOffset: position, as: T.self)
  }

  @inline(__always)
  private mutating func slice() -> UnsafeRawBufferPointer {
    let length = Int(read(UInt32.self))
    unsafe precondition(position + length <= buffer.count)
    defer { position += length }
    return unsafe UnsafeRawBufferPointer(rebasing: buffer[position..<position + length])
  }

  @inline(__always)
  private mutating func text() -> String {
    unsafe String(decoding: slice(), as: UTF8.self)
  }

  /// Reads a node.
  mutating func node() -> Node<Typical.State> {
    let identifier = text()
    let classTag = text()
    let version = read(UInt32.self)
    let selection = read(Int.self)
    let scrollX = read(Double.self)
    let scrollY = read(Double.self)
    let title = text()
    let isEditing = read(Bool.self)
    let lastOpened = read(Bool.self) ? Date(timeIntervalSinceReferenceDate: read()) : nil
    let expanded = (0..<Int(read(UInt32.self))).map { _ in read(Int.self) }
    let recent = (0..<Int(read(UInt32.self))).map { _ in text() }
    let order = HandwrittenWriter.orders[Int(read(UInt8.self))]
    let frame = Typical.Frame(x: read(), y: read(), width: read(), height: read())
    var counts: [String: Int] = [:]
    let pairs = Int(read(UInt32.self))
    counts.reserveCapacity(pairs)
    for _ in 0..<pairs {
      let key = text()
      counts[key] = read(Int.self)
    }
    let thumbnail = unsafe Data(slice())
    let document = read(Bool.self) ? UUID(uuid: read()) : nil
    return Node(
      identifier: identifier, classTag: classTag, version: version,
      state: Typical.State(
        selection: selection, scrollX: scrollX, scrollY: scrollY, title: title, isEditing: isEditing,
        lastOpened: lastOpened, expanded: expanded, recent: recent, order: order, frame: frame, counts: counts,
        thumbnail: thumbnail, document: document))
  }
}
