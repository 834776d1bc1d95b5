/// The epochs of one level of values.
///
/// Its cell is the one thing that is never freed: it is used again for another level of another coder, with epochs that go on
/// counting. A handle compares its own epoch with it before it looks at anything else, so that one which was kept too
/// long touches nothing that is gone.
struct Epochs<Frame> {
  /// The epoch that handles on the value must have; 0 when there is no value.
  var value: UInt64 = 0
  /// The epoch that the value's containers must have.
  var containers: UInt64 = 0
  /// The frame of the level; nil while it belongs to none.
  private(set) var frame: Cell<Frame>?
  private var last: UInt64 = 0

  /// Set in an epoch while a value inside is being coded: nothing may be done here until it is done.
  private static var suspended: UInt64 { 1 << 63 }
  /// An epoch that no value ever has.
  static var dead: UInt64 { 1 << 62 }

  /// Begins a value.
  @inline(__always)
  mutating func begin() {
    last &+= 1
    value = last
    containers = 0
  }

  /// Ends the value: all its handles are stale from now on.
  @inline(__always)
  mutating func end() {
    value = 0
    containers = 0
  }

  /// Suspends the value while another one inside is coded.
  @inline(__always)
  mutating func suspend() {
    value |= Self.suspended
    containers |= Self.suspended
  }

  /// Goes on with the value.
  @inline(__always)
  mutating func resume() {
    value &= ~Self.suspended
    containers &= ~Self.suspended
  }

  /// The epoch of the value's containers, which is given now if it has none.
  @inline(__always)
  mutating func openContainers() -> UInt64 {
    if containers == 0 {
      last &+= 1
      containers = last
    }
    return containers
  }

  /// Whether an epoch is that of the value or of its containers, be they suspended or not.
  func knows(_ epoch: UInt64) -> Bool {
    epoch != 0 && (value & ~Self.suspended == epoch || containers & ~Self.suspended == epoch)
  }

  /// Gives the level to a frame, or takes it away.
  mutating func assign(_ frame: Cell<Frame>?) {
    end()
    self.frame = frame
  }
}
