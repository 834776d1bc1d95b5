#if canImport(Glibc)
import Glibc
import Synchronization

/// What a signal handler needs to give the terminal back: constant globals, so that reading them takes no lock.
private let silentDescriptor = Atomic<Int32>(-1)
private let earlierSettings = Atomic<UInt>(0)

/// Gives the terminal back its echo, and ends the process by the signal; every call in it is safe in a handler.
private func restoreAndEnd(_ number: Int32) {
  let descriptor = silentDescriptor.exchange(-1, ordering: .sequentiallyConsistent)
  if descriptor >= 0,
    let settings = unsafe UnsafePointer<termios>(bitPattern: earlierSettings.load(ordering: .sequentiallyConsistent))
  {
    unsafe tcsetattr(descriptor, TCSAFLUSH, settings)
  }
  signal(number, SIG_DFL)
  raise(number)
}

/// The controlling terminal without echo, for one passcode; a signal that ends the process gives the echo back.
@safe final class SilentTerminal {
  /// The terminal.
  let descriptor: Int32

  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private let settings: UnsafeMutablePointer<termios>
  private var handlers: [(Int32, sigaction)] = []

  /// Turns the echo off; `nil` when there is no terminal that can do without.
  init?() {
    descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    unsafe settings = .allocate(capacity: 1)
    unsafe settings.initialize(to: termios())
    guard descriptor >= 0, unsafe tcgetattr(descriptor, settings) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      unsafe settings.deallocate()
      return nil
    }
    unsafe earlierSettings.store(UInt(bitPattern: settings), ordering: .sequentiallyConsistent)
    silentDescriptor.store(descriptor, ordering: .sequentiallyConsistent)
    for number in Self.signals {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = restoreAndEnd
      var earlier = sigaction()
      unsafe sigaction(number, &action, &earlier)
      handlers.append((number, earlier))
    }
    // Ctrl-Z would leave the shell without echo: there is nothing to suspend here.
    var silent = unsafe settings.pointee
    silent.c_lflag &= ~tcflag_t(ECHO)
    unsafe withUnsafeMutableBytes(of: &silent.c_cc) { unsafe $0[Int(VSUSP)] = 0 }
    guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
      giveBack()
      return nil
    }
  }

  /// Writes a text.
  func write(_ text: String) {
    var bytes = Array(text.utf8)
    _ = unsafe Glibc.write(descriptor, &bytes, bytes.count)
  }

  /// Gives the echo back and closes the terminal.
  func giveBack() {
    guard silentDescriptor.exchange(-1, ordering: .sequentiallyConsistent) == descriptor else { return }
    unsafe tcsetattr(descriptor, TCSAFLUSH, settings)
    write("\n")
    for index in handlers.indices { unsafe sigaction(handlers[index].0, &handlers[index].1, nil) }
    close(descriptor)
    unsafe settings.deallocate()
  }
}
#endif
