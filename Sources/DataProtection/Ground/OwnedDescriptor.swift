import FileSystem

/// A descriptor that is closed when nobody needs it any more.
final class OwnedDescriptor: Sendable {
  let fileSystem: any FileSystem
  let descriptor: Descriptor
  /// Who closes the descriptor, if it isn't this.
  private let owner: (any AnyObject & Sendable)?
  /// Whether it may hold a lock, which a child process that was just forked would keep as long as its copy is open.
  private let isLock: Bool

  /// Takes a descriptor over, or borrows it from an owner.
  init(
    _ fileSystem: any FileSystem, _ descriptor: Descriptor, ownedBy owner: (any AnyObject & Sendable)? = nil,
    isLock: Bool = false
  ) {
    (self.fileSystem, self.descriptor, self.owner, self.isLock) = (fileSystem, descriptor, owner, isLock)
  }

  deinit {
    if isLock { try? fileSystem.unlock(descriptor) }
    if owner == nil { fileSystem.close(descriptor) }
  }
}
