package import FileSystem
import Glibc
import Synchronization

/// A file system in memory that knows which changes would survive a power cut.
///
/// It models what protected storage relies on and nothing kinder: content and names become durable only when they
/// are synchronised, each by itself. `cutPower(afterCall:)` makes every later call fail as for a dead process;
/// `afterPowerCut` then gives the disk as the next launch finds it, once for every policy.
package final class MemoryFileSystem: FileSystem {
  /// What the simulated volume can and can't do.
  package struct Features: Hashable, Sendable {
    /// Reserving space (`fallocate`).
    package var allocation = true
    /// How many bytes all files may have together; writing over bytes that are there needs none.
    package var capacity = Int.max
    /// What kind of volume it says it is.
    package var volumeKind = VolumeKind.local

    /// A volume that can do everything.
    package init() {}
  }

  /// One call that was made: for tests that count or look.
  package struct Call: Hashable, Sendable {
    /// Which call.
    package let operation: FileSystemError.Operation
    /// The name it was given.
    package let name: String?
  }

  struct OpenFile {
    let inode: Int
    let isWritable: Bool
  }

  struct State {
    var disk: Disk
    var features: Features
    var open: [Int32: OpenFile] = [:]
    var locks: [Int32: LockMode] = [:]
    var nextDescriptor: Int32 = 3
    var calls: [Call] = []
    var changingCalls: [Int] = []
    var powerCut: Int?
    var waited = Duration.zero
  }

  let state: Mutex<State>
  /// What the volume can do.
  package var features: Features { state.withLock { $0.features } }
  package let currentUser: UInt32

  /// Makes an empty file system whose root belongs to the user.
  package convenience init(user: UInt32 = 1000, features: Features = Features()) {
    self.init(disk: Disk(owner: user), user: user, features: features)
  }

  private init(disk: Disk, user: UInt32, features: Features) {
    state = Mutex(State(disk: disk, features: features))
    currentUser = user
  }

  // MARK: Power

  /// How many calls were made so far; closing and pausing don't count.
  package var callCount: Int { state.withLock { $0.calls.count } }

  /// The calls that were made so far.
  package var calls: [Call] { state.withLock { $0.calls } }

  /// How long callers have paused, in all.
  package var waited: Duration { state.withLock { $0.waited } }

  /// Cuts the power after so many calls in all: every later one throws `.inputOutput` and changes nothing.
  package func cutPower(afterCall count: Int) {
    state.withLock { $0.powerCut = count }
  }

  /// Whether a call was refused since the power was cut.
  package var isPowerCut: Bool {
    state.withLock { state in state.powerCut.map { state.calls.count >= $0 } ?? false }
  }

  /// How often the disk was changed, from its beginning, in this life or an earlier one.
  package var revision: Int { state.withLock { $0.disk.revision } }

  /// After how many calls, counted from a call on, a power cut finds another disk than one call earlier.
  ///
  /// And after how many nothing changes any more, but something is still called: a program may acknowledge before it
  /// ends. Where these were tried, every call was; the others only read.
  ///
  /// - Parameter start: How many calls were made before; from zero.
  package func cutPoints(after start: Int) -> [Int] {
    state.withLock { state in
      let changing = state.changingCalls.filter { $0 > start }
      let last = changing.last ?? start
      return [0] + changing.map { $0 - start } + (last..<max(last, state.calls.count)).map { $0 + 1 - start }
    }
  }

  /// How many changes are not synchronised now.
  package var unsynchronizedCount: Int { state.withLock { $0.disk.pending.count } }

  /// Every policy that can make a difference now: any subset of a few changes, and torn writes.
  package var powerCutPolicies: [PowerCutPolicy] { state.withLock { $0.disk.policies } }

  /// The file system as the next launch finds it after a power cut; this one stays as it is.
  package func afterPowerCut(_ policy: PowerCutPolicy) -> MemoryFileSystem {
    MemoryFileSystem(
      disk: state.withLock { $0.disk.afterPowerCut(policy) }, user: currentUser, features: features)
  }

  /// The file system as the next process finds it after the death of all processes; this one stays as it is.
  package func afterProcessDeath() -> MemoryFileSystem {
    MemoryFileSystem(disk: state.withLock { $0.disk }, user: currentUser, features: features)
  }

  /// A sync of the descriptor failed: later syncs report success and synchronise none of its changes.
  package func loseUnsynchronized(_ descriptor: Descriptor) {
    state.withLock { state in
      guard let file = state.open[descriptor.rawValue] else { return }
      state.disk.loseChanges(of: file.inode)
    }
  }

  /// Counts a call and makes it, unless the power is cut.
  func call<Result>(
    _ operation: FileSystemError.Operation, _ name: String? = nil,
    _ body: (inout State) throws(FileSystemError.Code) -> Result
  ) throws(FileSystemError) -> Result {
    // A Mutex's closure can't throw a type of its own through a generic result: carry the outcome out instead.
    var outcome: Swift.Result<Result, FileSystemError>?
    state.withLock { state in
      if let limit = state.powerCut, state.calls.count >= limit {
        outcome = .failure(FileSystemError(.inputOutput, operation, name: name))
        return
      }
      state.calls.append(Call(operation: operation, name: name))
      let revision = state.disk.revision
      defer { if state.disk.revision != revision { state.changingCalls.append(state.calls.count) } }
      do throws(FileSystemError.Code) {
        outcome = .success(try body(&state))
      } catch {
        outcome = .failure(FileSystemError(error, operation, name: name))
      }
    }
    return try outcome!.get()
  }

  package func pause(for duration: Duration) {
    state.withLock { $0.waited += duration }
    // A lock may be held by a thread that is about to let it go: on a busy machine it needs a while.
    usleep(5_000)
  }

  /// Leaves so many bytes free, from now on.
  package func fill(leaving free: Int) {
    state.withLock { state in
      state.features.capacity = state.disk.byteCount + free
    }
  }

  /// Whether somebody holds a lock.
  package var isAnythingLocked: Bool { state.withLock { !$0.locks.isEmpty } }

  package func close(_ descriptor: Descriptor) {
    state.withLock { state in
      state.open[descriptor.rawValue] = nil
      state.locks[descriptor.rawValue] = nil
    }
  }
}
