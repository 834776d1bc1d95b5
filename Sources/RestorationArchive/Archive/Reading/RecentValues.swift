/// The values fetched last, by number: when there is too much, the oldest goes.
struct RecentValues<Value> {
  private let capacity: Int
  private var values: [Int: Value] = [:]
  private var order: [Int] = []
  private var oldest = 0

  /// Makes room for so many.
  init(capacity: Int) { self.capacity = capacity }

  /// Forgets all values.
  mutating func removeAll() {
    values = [:]
    order = []
    oldest = 0
  }

  /// The number of values.
  var count: Int { values.count }

  /// The value of a number; setting one that is there already changes nothing in the order.
  subscript(number: Int) -> Value? {
    get { values[number] }
    set {
      guard let newValue, values.updateValue(newValue, forKey: number) == nil else { return }
      if order.count < capacity { return order.append(number) }
      values[order[oldest]] = nil
      order[oldest] = number
      oldest = (oldest + 1) % capacity
    }
  }
}
