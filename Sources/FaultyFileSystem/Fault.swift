package import FileSystem

/// How a call goes wrong.
package enum Fault: Hashable, Sendable {
  /// It throws this and does nothing; a sync loses what it was to make durable.
  case error(FileSystemError.Code)
  /// A write takes only the first half of its bytes, at least one; any other call goes well.
  case shortWrite
}
