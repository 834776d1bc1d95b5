import SeededRandom

/// Where a kill is meant to land.
enum KillPhase: CaseIterable {
  case capture, write, sync, publish, restore, promotion, jot

  /// Whether the switch waits until the program has started: the phases of the start itself cannot.
  var isArmedLater: Bool { self != .restore }

  /// Whether the device is locked in a life that is to end here.
  var isLocking: Bool { self == .promotion || self == .publish }

  /// The switch for one life of the program, as `kill-switch.c` reads it; `n` spreads the kills over the calls.
  func kill(_ n: Int) -> String {
    let choice = n / 16
    return switch self {
    // A run appends to the generation that it found; while locked a file of its own is published.
    case .capture: "capturing/log:\(1 + n % 4):\(["before", "after"][choice % 2])"
    case .write: "pwrite:\(1 + n % 6):\(["before", "torn", "after"][choice % 3])"
    case .sync:
      ["fsync:1", "fsync:2", "fdatasync:1", "fdatasync:2", "fdatasync:3"][n % 5] + ":\(["before", "after"][choice % 2])"
    case .publish:
      ["renameat2:1", "renameat2:2", "fsync:3"][n % 3] + ":\(["before", "after"][choice % 2])"
    case .restore:
      // The marker is overwritten for each of some fifteen nodes, and synced beside.
      [
        "restoring/log:1:before", "restoring/log:1:after", "restoring/pwrite:\(1 + choice % 15):torn",
        "restoring/pwrite:\(1 + choice % 15):after", "restoring/fdatasync:1:\(["before", "after"][choice % 2])",
      ][n % 5]
    case .jot:
      // While locked from the start: what is beside the state, and then the state that can be read.
      [
        "capturing/log:1:after", "pwrite:\(1 + choice % 4):torn", "pwrite:\(1 + choice % 4):after",
        "fsync:\(1 + choice % 3):before", "fdatasync:1:\(["before", "after"][choice % 2])",
        "renameat2:\(1 + choice % 2):before", "renameat2:\(1 + choice % 2):after",
      ][n % 7]
    case .promotion:
      // Armed at the unlock: the counted passcode, then the save that joins the jot.
      [
        "pwrite:\(1 + choice % 6):torn", "pwrite:\(1 + choice % 6):after", "fsync:\(1 + choice % 6):before",
        "fsync:\(1 + choice % 6):after", "renameat2:\(1 + choice % 3):before", "renameat2:\(1 + choice % 3):after",
        "openat:\(1 + choice % 12):after",
      ][n % 7]
    }
  }
}

/// What becomes of that which was not synced when the program is killed.
enum PowerCut: CustomStringConvertible {
  /// Only the process dies: the kernel keeps all that it wrote.
  case none
  /// Nothing of it survives.
  case lost
  /// Each changed name and block survives or doesn't.
  case mixed(seed: UInt32)

  static func random(using generator: inout SplitMix64) -> PowerCut {
    switch generator.next() % 5 {
    case 0: PowerCut.none
    case 1, 2: .lost
    default: .mixed(seed: UInt32(truncatingIfNeeded: generator.next()))
    }
  }

  /// The value of `POWER_CUT`, as `power-cut.c` reads it; nil for none.
  var variable: String? {
    switch self {
    case .none: nil
    case .lost: "lost"
    case .mixed(let seed): "mixed:\(seed)"
    }
  }

  var description: String { variable ?? "no power cut" }
}
