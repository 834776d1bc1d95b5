import FileSystem
import Synchronization

/// A lock file of the device's directory, opened when it is needed first.
final class DeviceLock: Sendable {
  private let fileSystem: any FileSystem
  private let directory: OwnedDescriptor
  private let name: String
  private let whenNew: @Sendable () throws(FileSystemError) -> Void
  private let file = Mutex<Descriptor?>(nil)

  /// - Parameters:
  ///   - name: The file's name.
  ///   - directory: The device's directory.
  ///   - whenNew: Runs before the file is made.
  init(
    _ name: String, in directory: OwnedDescriptor, _ fileSystem: any FileSystem,
    whenNew: @escaping @Sendable () throws(FileSystemError) -> Void
  ) {
    self.name = name
    self.directory = directory
    self.fileSystem = fileSystem
    self.whenNew = whenNew
  }

  deinit {
    if let file = file.withLock({ $0 }) { fileSystem.close(file) }
  }

  /// The open file; `nil` on a read-only mount that has none, where nobody can change what a lock would guard.
  func descriptor() throws(ProtectionError) -> Descriptor? {
    if let file = file.withLock({ $0 }) { return file }
    guard let opened = try open() else { return nil }
    let kept = file.withLock { file in
      file = file ?? opened
      return file
    }
    if kept != opened { fileSystem.close(opened) }
    return kept
  }

  /// Lets the lock go; a file that can't be unlocked is closed, which does as much.
  func unlock() {
    guard let opened = file.withLock({ $0 }), (try? fileSystem.unlock(opened)) == nil else { return }
    file.withLock { $0 = nil }
    fileSystem.close(opened)
  }

  private func open() throws(ProtectionError) -> Descriptor? {
    do throws(ProtectionError) {
      return try TrustedDirectory.openLock(name, in: directory.descriptor, fileSystem, whenNew: whenNew)
    } catch {
      guard (error.cause as? FileSystemError)?.code == .readOnlyFileSystem else { throw error }
    }
    return try attempt("open a lock file for reading") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        return try fileSystem.openFile(name, in: directory.descriptor, [])
      } catch  where error.code == .noSuchFile {
        return nil
      }
    }
  }
}
