// Unsafe memory, 1 of 6: cells, slabs and borrowed elements.
//
// Relies on: only `SessionMemory` frees, once, when it goes; the holder of a cell or a slab holds the owner of its memory as
// well, or compares its epoch first with a cell that is never freed (`Epochs`). Every index is checked. Borrowed elements stay
// in the call of whoever lent them, or with the owner of their copy.

/// Owns the memory of a session: its cells, slabs and copies go when it goes, and not before.
final class SessionMemory {
  private var ends: [() -> Void] = []

  deinit { for end in ends { end() } }

  /// Allocates memory for elements, which the body initializes.
  fileprivate func allocate<Element>(
    _ count: Int, _ initialize: (UnsafeMutablePointer<Element>) -> Void
  ) -> UnsafeMutablePointer<Element> {
    let start = UnsafeMutablePointer<Element>.allocate(capacity: max(count, 1))
    unsafe initialize(start)
    ends.append {
      unsafe start.deinitialize(count: count)
      unsafe start.deallocate()
    }
    return unsafe start
  }
}

/// A value at a place of its own.
@safe struct Cell<Value> {
  private let place: UnsafeMutablePointer<Value>

  /// Makes a place for a value that its session owns.
  init(_ value: Value, in memory: SessionMemory) {
    unsafe place = memory.allocate(1) { unsafe $0.initialize(to: value) }
  }

  /// Makes a place that is never freed.
  init(immortal value: Value) {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: value)
  }

  /// The value, in its place.
  var pointee: Value {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(place) }
    @inline(__always) nonmutating unsafeMutableAddress { unsafe place }
  }

  /// A number that no other living cell has.
  @inline(__always)
  var identity: UInt { unsafe UInt(bitPattern: place) }

  @inline(__always)
  static func == (left: Cell, right: Cell) -> Bool { left.identity == right.identity }
}

/// A fixed number of elements side by side, which their session owns.
@safe struct Slab<Element> {
  private let start: UnsafeMutablePointer<Element>
  /// The number of elements.
  let count: Int

  /// Makes elements that are all the same.
  init(repeating element: Element, count: Int, in memory: SessionMemory) {
    unsafe start = memory.allocate(count) { unsafe $0.initialize(repeating: element, count: count) }
    self.count = count
  }

  /// The element at an index, which is checked.
  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
      return unsafe UnsafePointer(start + index)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
      return unsafe start + index
    }
  }
}

/// Elements that somebody lends for the length of a call.
@safe struct Borrowed<Element: BitwiseCopyable> {
  private let start: UnsafePointer<Element>?
  /// The number of elements.
  let count: Int

  /// No elements.
  @inline(__always)
  init() {
    unsafe start = nil
    count = 0
  }

  /// Takes lent memory.
  @inline(__always)
  init(_ elements: UnsafeBufferPointer<Element>) {
    unsafe start = elements.baseAddress
    count = elements.count
  }

  /// The elements as memory.
  @inline(__always)
  var buffer: UnsafeBufferPointer<Element> { unsafe UnsafeBufferPointer(start: start, count: count) }

  /// The element at an index, which is checked.
  @inline(__always)
  subscript(index: Int) -> Element {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
    return unsafe start.unsafelyUnwrapped[index]
  }

  /// The elements of a range, which is checked.
  @inline(__always)
  subscript(range: Range<Int>) -> Borrowed {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return unsafe Borrowed(UnsafeBufferPointer(start: start.map { unsafe $0 + range.lowerBound }, count: range.count))
  }

  /// A copy of the elements that lasts as long as the owner of its memory.
  func copied(in memory: SessionMemory) -> Borrowed {
    let start = unsafe memory.allocate(count) { start in
      for index in 0..<count { unsafe (start + index).initialize(to: self[index]) }
    }
    return unsafe Borrowed(UnsafeBufferPointer(start: start, count: count))
  }
}
