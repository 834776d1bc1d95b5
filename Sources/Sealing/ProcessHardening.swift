import CSystem
import Glibc

/// Measures against secrets leaving the process by way of core dumps and debuggers.
package enum ProcessHardening {
  /// The features that were turned off.
  package struct Outcome: Hashable, Sendable {
    /// The soft and hard limits for core dumps are zero.
    package var coreDumpsAreOff: Bool
    /// The process is not dumpable: no dump, and no other process of the same user may read its memory.
    package var isShieldedFromDebuggers: Bool
  }

  /// Turns core dumps off and shuts the process's memory to others of the same user.
  ///
  /// Swift's backtracer is not turned off by this: it is chosen before `main`, by `SWIFT_BACKTRACE=enable=no`.
  @discardableResult
  package static func apply() -> Outcome {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    let limited = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    let shielded = csystem_prctl(Int32(csystem_PR_SET_DUMPABLE), 0) == 0
    return Outcome(coreDumpsAreOff: limited, isShieldedFromDebuggers: shielded)
  }
}
