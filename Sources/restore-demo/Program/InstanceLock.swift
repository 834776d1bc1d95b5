#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Says whether another instance of the program uses the same state.
///
/// A lock on a file beside the device's directory; it goes with the process, whatever ends it.
final class InstanceLock {
  private let descriptor: Int32
  /// Whether this is the first instance.
  let isFirst: Bool

  init(besideDirectory path: String) {
    descriptor = unsafe open(path + ".instance", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    // Where the file can't be made the device will say what is wrong; nobody else can be using it.
    isFirst = descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
