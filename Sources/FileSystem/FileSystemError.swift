/// A system call that failed: which one, on what, and the `errno` it left.
package struct FileSystemError: Error, Hashable, Sendable {
  /// The `errno` of a failed call; every constant names its C twin, and there are those that somebody looks for.
  package struct Code: RawRepresentable, Hashable, Sendable, Error {
    /// The `errno` number as Linux defines it.
    package let rawValue: Int32

    /// Wraps an `errno` number.
    package init(rawValue: Int32) {
      self.rawValue = rawValue
    }

    /// `ENOENT`.
    package static let noSuchFile = Code(rawValue: 2)
    /// `EINTR`.
    package static let interrupted = Code(rawValue: 4)
    /// `EIO`.
    package static let inputOutput = Code(rawValue: 5)
    /// `ENXIO`.
    package static let noSuchDevice = Code(rawValue: 6)
    /// `EBADF`.
    package static let badDescriptor = Code(rawValue: 9)
    /// `EACCES`.
    package static let accessDenied = Code(rawValue: 13)
    /// `EEXIST`.
    package static let fileExists = Code(rawValue: 17)
    /// `ENOTDIR`.
    package static let notDirectory = Code(rawValue: 20)
    /// `EISDIR`.
    package static let isDirectory = Code(rawValue: 21)
    /// `EINVAL`.
    package static let invalidArgument = Code(rawValue: 22)
    /// `ENOSPC`.
    package static let noSpace = Code(rawValue: 28)
    /// `ESPIPE`.
    package static let illegalSeek = Code(rawValue: 29)
    /// `EROFS`.
    package static let readOnlyFileSystem = Code(rawValue: 30)
    /// `ENAMETOOLONG`.
    package static let nameTooLong = Code(rawValue: 36)
    /// `EDQUOT`.
    package static let quotaExceeded = Code(rawValue: 122)
    /// `ENOTEMPTY`.
    package static let notEmpty = Code(rawValue: 39)
    /// `ELOOP`.
    package static let symbolicLink = Code(rawValue: 40)
    /// `EOPNOTSUPP` and `ENOTSUP`.
    package static let notSupported = Code(rawValue: 95)
  }

  /// The call that failed.
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case openDirectory, makeDirectory, openFile, rename, unlink, removeDirectory
    case read, write, synchronize, synchronizeData, synchronizeDirectory, allocate
    case status, statusOfName, statusOfPath, readLink, lock, unlock, names, volumeKind
    case close
  }

  /// The `errno` of the call.
  package let code: Code
  /// The call that failed.
  package let operation: Operation
  /// The name or path it was given, when it was given one; never file content.
  package let name: String?

  /// Describes a failed call.
  package init(_ code: Code, _ operation: Operation, name: String? = nil) {
    self.code = code
    self.operation = operation
    self.name = name
  }
}

extension FileSystemError: CustomStringConvertible {
  /// The call, its name and the number, for logs.
  package var description: String {
    "\(operation.rawValue)\(name.map { " of \"\($0.replacing("\0", with: "\\x"))\"" } ?? "") failed with errno \(code.rawValue)"
  }
}
