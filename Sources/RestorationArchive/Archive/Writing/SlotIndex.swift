/// Where the slots of nodes are, by the nodes' numbers: a list while they are dense, as they mostly are.
struct SlotIndex: Sendable {
  /// By number: one more than the position of the slot; 0 for none.
  private var dense: [UInt32] = []
  /// The positions for numbers that the list does not reach, such as that of the parent of the roots.
  private var sparse: [UInt32: UInt32] = [:]
  /// The number of slots.
  private(set) var count = 0

  /// Makes an index of the numbers at the positions where they stand.
  init(_ numbers: some Sequence<UInt32> = []) {
    for (position, number) in numbers.enumerated() { insert(position, for: number) }
  }

  /// The position of a number's slot; nil when it has none.
  @inline(__always)
  subscript(number: UInt32) -> Int? {
    if Int(number) < dense.count {
      let known = dense[Int(number)]
      return known == 0 ? nil : Int(known) - 1
    }
    return sparse[number].map { Int($0) }
  }

  /// Remembers the position of the slot of a number that has none yet.
  mutating func insert(_ position: Int, for number: UInt32) {
    // The list may be four times as long as there are slots: numbers are never given out again, and a few
    // slots of a great archive can have any.
    if Int(number) >= dense.count, Int(number) <= 2 * count + 1024 { extend(to: Int(number)) }
    if Int(number) < dense.count {
      dense[Int(number)] = UInt32(position) + 1
    } else {
      sparse[number] = UInt32(position)
    }
    count += 1
  }

  private mutating func extend(to number: Int) {
    let length = max(number + 1, 2 * dense.count)
    dense.append(contentsOf: repeatElement(0, count: length - dense.count))
    guard !sparse.isEmpty else { return }
    for (number, position) in sparse where Int(number) < length { dense[Int(number)] = position + 1 }
    sparse = sparse.filter { Int($0.key) >= length }
  }
}
