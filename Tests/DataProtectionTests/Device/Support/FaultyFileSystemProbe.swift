import FaultyFileSystem
import Synchronization

/// Lets something happen at the next call of a device to its disk.
final class FaultyFileSystemProbe: Sendable {
  let fileSystem: FaultyFileSystem
  private let body = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ world: TestWorld) {
    fileSystem = FaultyFileSystem(world.memory)
    fileSystem.onCall { [unowned self] _, _ in
      let due = body.withLock { body in
        defer { body = nil }
        return body
      }
      due?()
    }
  }

  func onNextCall(_ body: @escaping @Sendable () -> Void) {
    self.body.withLock { $0 = body }
  }
}
