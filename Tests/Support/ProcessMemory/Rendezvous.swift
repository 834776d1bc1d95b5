package import Foundation

/// A named pipe through which one process tells another that it has come so far.
package struct Rendezvous {
  private let path: String

  /// Names the pipe.
  package init(_ path: String) {
    self.path = path
  }

  /// Makes the pipe and keeps it open, so that what is told is not lost before somebody listens.
  package func make() throws -> FileHandle {
    guard unsafe mkfifo(path, 0o600) == 0, let descriptor = descriptor() else { throw CocoaError(.fileWriteUnknown) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Tells the other process.
  package func tell() {
    guard let descriptor = descriptor() else { return }
    var byte: UInt8 = 1
    unsafe write(descriptor, &byte, 1)
    close(descriptor)
  }

  /// Waits until it was told; `false` when nothing came in two minutes, because the other process has died.
  package func wait() -> Bool {
    guard let descriptor = descriptor() else { return false }
    defer { close(descriptor) }
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&request, 1, 120_000) == 1 else { return false }
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1
  }

  private func descriptor() -> Int32? {
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    return descriptor >= 0 ? descriptor : nil
  }
}
