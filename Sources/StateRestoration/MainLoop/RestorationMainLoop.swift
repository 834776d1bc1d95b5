internal import Dispatch

/// How a program runs a block on its main thread soon, where that thread is kept by a main loop that isn't Swift's.
///
/// On Linux the main actor gets its turns from libdispatch. A program that hands its main thread to GTK, to SDL or to a loop of its own
/// gives its ``RestorationConfiguration`` one of these, and its state is preserved in turns of that loop.
///
/// ```swift
/// let session = try RestorationSession.openNow(
///   at: .applicationState("com.example.notes"), root: draft, configuration: .init(mainLoop: .gLib))
/// ```
public struct RestorationMainLoop: Sendable {
  private let schedule: @Sendable (_ block: @escaping @Sendable () -> Void) -> Void

  /// Describes a main loop by the call that gives it a block.
  ///
  /// - Parameter schedule: Called on any thread. It returns at once, and has the loop run the block, once, on the thread of the
  ///   main actor: the one on which the program uses its controllers.
  public init(_ schedule: @escaping @Sendable (_ block: @escaping @Sendable () -> Void) -> Void) {
    self.schedule = schedule
  }

  /// The main queue, which `RunLoop.main` and `dispatchMain()` run; Swift's main actor has its turns there as well.
  public static let mainQueue = RestorationMainLoop { block in DispatchQueue.main.async(execute: block) }

  /// The default context of GLib, which GTK runs: blocks are added with `g_idle_add_full`, in the default priority.
  ///
  /// Nothing is linked for it: the function is looked up in the program.
  ///
  /// - Precondition: The program has GLib loaded.
  public static var gLib: RestorationMainLoop {
    guard let symbol = unsafe HostProcess.symbol("g_idle_add_full") else {
      preconditionFailure(
        "This program has not loaded GLib; give the configuration a RestorationMainLoop that calls your main loop.")
    }
    typealias Source = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    typealias AddIdle = @convention(c) (Int32, Source, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> UInt32
    let add = unsafe unsafeBitCast(symbol, to: AddIdle.self)
    return RestorationMainLoop { block in
      let box = unsafe Unmanaged.passRetained(Block(run: block)).toOpaque()
      _ = unsafe add(
        0,
        { box in
          if let box = unsafe box { unsafe Unmanaged<Block>.fromOpaque(box).takeRetainedValue().run() }
          return 0  // not again
        }, box, nil)
    }
  }

  /// Has the loop run a block soon.
  func perform(_ block: @escaping @Sendable () -> Void) { schedule(block) }

  /// A block that C hands on as a pointer.
  private final class Block: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
