/// An open file or directory of one file system.
///
/// Like a file descriptor of the kernel it owns nothing by itself: whoever opened it closes it, once. The number
/// means something only to the `FileSystem` that gave it out.
package struct Descriptor: Hashable, Sendable {
  /// The number: a kernel descriptor, or an index of a simulated file system.
  package let rawValue: Int32

  /// Wraps a number that a file system gave out.
  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }
}
