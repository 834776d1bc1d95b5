import FileSystem

extension SimulatedDevice {
  /// What a power cut leaves of writes that were not synchronised.
  public enum PowerCutLoss: Sendable, Hashable {
    /// Nothing of them.
    case everythingUnsynchronized

    /// All of them: the disk was quick.
    case nothing

    /// All but one of them, by its number; see ``SimulatedDevice/unsynchronizedChanges``.
    case one(Int)

    /// Those whose bits are set in a mask, by their number modulo 64: any of them, for tests by chance.
    case changes(UInt64)

    /// All but the end of the last write, which keeps so many bytes.
    case endOfLastWrite(keeping: Int)
  }

  /// How a simulated disk goes wrong.
  public enum DiskFault: Sendable, Hashable {
    /// No space is left: calls that need some fail.
    case full

    /// Every call fails.
    case unreachable

    /// Syncs fail, and what they were to make durable is lost.
    case failingSyncs

    /// Nothing can be written.
    case readOnly
  }
}

extension SimulatedDevice.DiskFault {
  /// What fails, and how.
  var plan: (operations: Set<FileSystemError.Operation>?, code: FileSystemError.Code) {
    switch self {
    case .full: ([.write, .allocate, .makeDirectory], .noSpace)
    case .unreachable: (nil, .inputOutput)
    case .failingSyncs: ([.synchronize, .synchronizeData], .inputOutput)
    case .readOnly:
      ([.write, .allocate, .makeDirectory, .rename, .unlink], .readOnlyFileSystem)
    }
  }
}
