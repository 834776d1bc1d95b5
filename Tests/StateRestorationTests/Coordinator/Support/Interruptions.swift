import FaultyFileSystem
import StateRestoration
import StateRestorationTesting
import Testing

/// Something that a program does with the disk, to be interrupted before each of its calls.
@MainActor struct Interruptible {
  let bench: Bench
  /// Does it; true when it was acknowledged as durable.
  let act: @MainActor () async throws -> Bool
  /// Looks at what is there after a restart with the device unlocked; true when it was done, false when it was not.
  let wasDone: @MainActor () async throws -> Bool
}

/// Cuts the power before every call of the file system that something makes, and after the last one.
///
/// - Parameters:
///   - loss: What the disk loses of what was not synchronised.
///   - make: Prepares it, each time on a device of its own.
/// - Returns: How often it was found not done and done.
@MainActor @discardableResult
func cutPowerAtEveryCall(
  losing loss: SimulatedDevice.PowerCutLoss, _ make: @MainActor () async throws -> Interruptible
) async throws -> (old: Int, new: Int) {
  var counts = (old: 0, new: 0)
  // Where the disk is no other than one call earlier, so is what a restart finds.
  let trial = try await make()
  let memory = try #require(trial.bench.device?.memory)
  let calls = try #require(trial.bench.process).fileSystem
  let (start, callStart) = (memory.callCount, calls.callCount)
  _ = try? await trial.act()
  #expect(memory.callCount - start == calls.callCount - callStart, "somebody else uses the disk")
  for number in memory.cutPoints(after: start).map({ $0 + 1 }) {
    let one = try await make()
    let process = try #require(one.bench.process).fileSystem
    process.die(beforeCall: process.callCount + number)
    let isAcknowledged = (try? await one.act()) ?? false
    try await one.bench.cutPower(losing: loss)
    try await one.bench.unlock()
    let isNew = try await one.wasDone()
    if isNew { counts.new += 1 } else { counts.old += 1 }
    #expect(isNew || !isAcknowledged, "what was acknowledged before call \(number) is lost")
  }
  return counts
}
