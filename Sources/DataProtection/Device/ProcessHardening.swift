private import Sealing

/// What a process can do so that the secrets in its memory don't get out of it.
public enum ProcessHardening {
  /// Turns core dumps off for this process, and keeps other processes of the same user from reading its memory.
  ///
  /// Call it first thing. Set `SWIFT_BACKTRACE=enable=no` as well: Swift's backtracer prints memory at register
  /// addresses when a program crashes.
  public static func apply() { Sealing.ProcessHardening.apply() }
}
