// Unsafe memory, 1 of 6: cells, slabs and borrowed elements.
//
// Relies on: a session (`EncodeSession`, `DecodeSession`, `ShapeInterner`) makes each cell and slab, keeps it to itself, and
// frees it once, in its `deinit`. A handle may outlive the session: it first compares its epoch with a cell that is never freed
// (`Epochs`). Every index is checked. Borrowed elements stay in the call of whoever lent them.

/// A value at a place of its own, which its session frees.
@safe struct Cell<Value> {
  private let place: UnsafeMutablePointer<Value>

  /// Makes a place for a value.
  init(_ value: consuming Value) {
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

  /// Ends the value and frees its place.
  func free() {
    unsafe place.deinitialize(count: 1)
    unsafe place.deallocate()
  }

  @inline(__always)
  static func == (left: Cell, right: Cell) -> Bool { left.identity == right.identity }
}

/// A fixed number of elements side by side, which their session frees.
@safe struct Slab<Element> {
  private let start: UnsafeMutablePointer<Element>
  /// The number of elements.
  let count: Int

  /// Makes elements that are all the same.
  init(repeating element: Element, count: Int) {
    unsafe start = .allocate(capacity: count)
    unsafe start.initialize(repeating: element, count: count)
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

  /// The elements before a limit, to be sorted in their place.
  func sort(first limit: Int, by precedes: (Element, Element) -> Bool) {
    precondition(limit <= count)
    var part = unsafe UnsafeMutableBufferPointer(start: start, count: limit)
    unsafe part.sort(by: precedes)
  }

  /// Ends the elements and frees their memory.
  func free() {
    unsafe start.deinitialize(count: count)
    unsafe start.deallocate()
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

  /// Takes what was lent.
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

  /// A copy of the elements that lasts until it is freed.
  func copied() -> Borrowed {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(count, 1))
    _ = unsafe copy.initialize(from: buffer)
    return unsafe Borrowed(UnsafeBufferPointer(start: copy.baseAddress, count: count))
  }

  /// Frees what ``copied()`` made.
  func free() { unsafe start?.deallocate() }
}
