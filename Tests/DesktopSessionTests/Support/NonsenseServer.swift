import Foundation
import Glibc
import Synchronization
import Testing

/// A socket where a bus should be; it says one thing to everybody who connects, and hangs up.
final class NonsenseServer: Sendable {
  private let socketDescriptor: Int32
  private let path: String
  private let connections = Atomic<Int>(0)

  init(at path: String, saying text: String) throws {
    self.path = path
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(descriptor, 8) == 0)
    socketDescriptor = descriptor
    Thread.detachNewThread { [weak self] in
      while case let peer = accept(descriptor, nil, nil), peer >= 0 {
        let bytes = Array(text.utf8)
        _ = unsafe send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        close(peer)
        self?.connections.add(1, ordering: .relaxed)
      }
    }
  }

  /// How many have connected.
  var count: Int { connections.load(ordering: .relaxed) }

  func stop() {
    shutdown(socketDescriptor, Int32(SHUT_RDWR))
    _ = unsafe unlink(path)
  }

  deinit {
    stop()
    close(socketDescriptor)
  }
}
