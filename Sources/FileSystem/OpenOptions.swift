/// How a file is opened by name.
///
/// Every file is opened with `O_NOFOLLOW`, `O_CLOEXEC`, `O_NOCTTY` and `O_NONBLOCK` besides: a link is refused, a
/// child process inherits nothing, and a FIFO put in a file's place can't stop the caller (check the status).
package struct OpenOptions: OptionSet, Hashable, Sendable {
  /// The bits; private to this type, not the kernel's.
  package let rawValue: UInt8

  /// Wraps a combination of options.
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Open for writing as well as reading (`O_RDWR`); without it `O_RDONLY`.
  package static let write = OpenOptions(rawValue: 1)
  /// Make the file with mode 0600, whatever the umask, when it isn't there (`O_CREAT`).
  package static let create = OpenOptions(rawValue: 2)
  /// Refuse with `EEXIST` when it is there (`O_EXCL`).
  package static let exclusive = OpenOptions(rawValue: 4)
}
