import CGtk
import Glibc

/// GLib's main loop, in which the main actor gets its turns: no timer, and no polling.
final class MainLoop {
  private let loop = g_main_loop_new(nil, 0)

  init() {
    // Swift's main actor is libdispatch's main queue. Its descriptor is readable when somebody waits for a turn.
    g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, takeTurns, nil)
  }

  func run() { g_main_loop_run(loop) }
  func quit() { g_main_loop_quit(loop) }
}

private nonisolated let takeTurns: GUnixFDSourceFunc = { descriptor, _, _ in
  var count: UInt64 = 0
  _ = read(descriptor, &count, 8)
  _dispatch_main_queue_callback_4CF(nil)
  return 1
}
