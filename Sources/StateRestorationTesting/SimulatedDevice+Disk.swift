package import FaultyFileSystem
package import FoundationShim

extension SimulatedDevice {
  /// The contents of a simulated device's disk at one moment: to look at, to compare, and to come back to later.
  public struct Disk: Sendable {
    /// The disk as it was kept.
    enum Content: Sendable {
      /// All of a memory disk, with changes that are not synchronised yet.
      case memory(MemoryFileSystem)
      /// The bytes of each file in a folder.
      case folder([String: Data])
    }

    let content: Content

    /// The memory disk; `nil` for a folder.
    package var fileSystem: MemoryFileSystem? {
      if case .memory(let fileSystem) = content { fileSystem } else { nil }
    }

    /// Every file's bytes, by its path in the device's directory.
    ///
    /// All of them are sealed or say nothing; what a launch on a locked device must not change can be compared by them.
    package var files: [String: Data] {
      switch content {
      case .memory(let fileSystem): SimulatedVolume.files(in: fileSystem)
      case .folder(let files): files
      }
    }
  }

  /// Where a simulated device keeps its files.
  public enum Storage: Sendable, Hashable, CaseIterable {
    /// In memory: quick, and the power can be cut.
    case memory

    /// In a new folder of the real disk, which is removed with the device: for looking at the files with other programs.
    case temporaryFolder
  }
}
