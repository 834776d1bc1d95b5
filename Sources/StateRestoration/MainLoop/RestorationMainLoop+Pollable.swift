internal import Synchronization

extension RestorationMainLoop {
  /// Blocks for the main thread of a program that polls descriptors, or draws one frame after another.
  ///
  /// ```swift
  /// let turns = RestorationMainLoop.Pollable()
  /// let session = try RestorationSession.openNow(
  ///   at: location, root: draft, configuration: .init(mainLoop: turns.mainLoop))
  /// while isRunning {
  ///   var descriptors = [
  ///     pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
  ///     pollfd(fd: turns.descriptor, events: Int16(POLLIN), revents: 0),
  ///   ]
  ///   poll(&descriptors, 2, -1)
  ///   turns.runDueBlocks()
  /// }
  /// ```
  public final class Pollable: Sendable {
    /// Can be read from while a block is due; for `poll`, `select` and the like, not to be read or closed by the
    /// program.
    ///
    /// It is the end of a pipe: `poll` reports `POLLIN` from the first block that is due until ``runDueBlocks()`` takes them, at once
    /// if they were due before the call. An edge-triggered `epoll` is told once for each such time. A block that comes while blocks
    /// run makes it readable again.
    ///
    /// It is -1, which `poll` leaves out, if the process had no descriptor left. Then call ``runDueBlocks()`` every now
    /// and then.
    public let descriptor: Int32

    private let writeEnd: Int32
    private let due = Mutex<[@Sendable () -> Void]>([])

    /// Makes one without blocks.
    public init() { (descriptor, writeEnd) = HostProcess.makePipe() ?? (-1, -1) }

    deinit {
      if descriptor >= 0 { HostProcess.close(descriptor, writeEnd) }
    }

    /// What the program gives its ``RestorationConfiguration``.
    public var mainLoop: RestorationMainLoop { RestorationMainLoop { [self] in add($0) } }

    /// Runs the blocks that are due; call it on the main thread, when the descriptor can be read from, or once a frame.
    public func runDueBlocks() {
      let blocks = due.withLock { due in
        HostProcess.drain(descriptor)
        defer { due = [] }
        return due
      }
      for block in blocks { block() }
    }

    private func add(_ block: @escaping @Sendable () -> Void) {
      due.withLock { due in
        due.append(block)
        if due.count == 1 { HostProcess.writeByte(writeEnd) }
      }
    }
  }
}
