#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Says whether another instance of the program uses the same state.
///
/// A lock on the state directory itself, so that no file has to be made; it goes with the process, whatever ends it.
final class InstanceLock {
  private let descriptor: Int32
  /// Whether this is the first instance.
  let isFirst: Bool

  init(directory path: String) {
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    // Where locks don't work nothing is preserved, as two instances must not do it both.
    isFirst = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
