/// One of the things compared in a metric: ours or a baseline.
struct Lane {
  /// `value` for ours, else the baseline's name.
  var name: String
  /// Work before each pass that isn't measured.
  var prepare: () throws -> Void = {}
  /// One pass over the workload.
  var pass: () throws -> Void
  /// Work after the passes of a round that isn't measured.
  var cleanUp: () -> Void = {}

  /// The lane that is ours.
  static func ours(
    prepare: @escaping () throws -> Void = {}, cleanUp: @escaping () -> Void = {}, _ pass: @escaping () throws -> Void
  ) -> Lane {
    Lane(name: Lane.ours, prepare: prepare, pass: pass, cleanUp: cleanUp)
  }

  /// The name of the lane that is ours.
  static let ours = "value"
}

/// What a lane took.
struct Taken {
  /// Nanoseconds per unit: the median over the rounds.
  var nanoseconds: Double
  /// Allocations per unit in the round with the fewest.
  var allocations: Double
}

/// The one in the middle, of a list that isn't empty.
func median(of times: [Double]) -> Double { times.sorted()[times.count / 2] }

/// Runs lanes round robin and takes medians, so that a slow moment of the machine falls on all alike.
struct Measurement {
  /// The clock.
  var clock: Clock
  /// The number of rounds.
  var rounds: Int
  /// A pass is repeated until it takes about this many nanoseconds; 0 for one pass a round.
  var atLeast: Double = 3e6

  /// Runs the lanes; a pass does `units` units of work.
  func run(units: Int, _ lanes: [Lane]) throws -> [String: Taken] {
    var repeats: [Int] = []
    for lane in lanes {
      try lane.prepare()
      let begun = clock.now
      try lane.pass()
      let once = max(1, clock.now - begun)
      lane.cleanUp()
      repeats.append(atLeast == 0 ? 1 : max(1, min(20_000, Int(atLeast / once))))
    }
    var times = [[Double]](repeating: [], count: lanes.count)
    var allocations = [[Double]](repeating: [], count: lanes.count)
    for _ in 0..<rounds {
      for (index, lane) in lanes.enumerated() {
        try lane.prepare()
        let count = AllocationCounter.count
        let begun = clock.now
        for _ in 0..<repeats[index] { try lane.pass() }
        let time = clock.now - begun
        let allocated = AllocationCounter.count - count
        lane.cleanUp()
        let total = Double(repeats[index] * units)
        times[index].append(time / total)
        allocations[index].append(Double(allocated) / total)
      }
    }
    var taken: [String: Taken] = [:]
    for (index, lane) in lanes.enumerated() {
      taken[lane.name] = Taken(
        nanoseconds: median(of: times[index]), allocations: allocations[index].min() ?? 0)
    }
    return taken
  }
}

/// Keeps a value from being optimised away.
@inline(never)
func consume<T>(_ value: T) {
  withExtendedLifetime(value) {}
}
