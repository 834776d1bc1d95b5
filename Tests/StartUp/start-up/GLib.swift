import Foundation
import StartUpProgram
import StateRestoration

/// A function of a library that is loaded here, in place of a header, so that nothing has to be installed to build this.
func symbol<Function>(_ name: String, as type: Function.Type) -> Function {
  guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else { fatalError("no \(name)") }
  return unsafeBitCast(symbol, to: type)
}

private typealias Pointer = UnsafeMutableRawPointer

/// A program that GLib's main loop keeps.
@MainActor func runGLib(_ program: StartUpProgram) {
  guard dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_GLOBAL) != nil else { fatalError("no GLib") }
  program.openNow(.gLib)
  readLinesInGLib(program)
  let loop = symbol("g_main_loop_new", as: (@convention(c) (Pointer?, Int32) -> Pointer?).self)(nil, 0)
  symbol("g_main_loop_run", as: (@convention(c) (Pointer?) -> Void).self)(loop)
}

/// A GTK application, which opens its session when it is activated.
@MainActor func runGTK(_ program: StartUpProgram) {
  guard dlopen("libgtk-4.so.1", RTLD_NOW | RTLD_GLOBAL) != nil else { fatalError("no GTK") }
  let application = symbol(
    "gtk_application_new", as: (@convention(c) (UnsafePointer<CChar>, Int32) -> Pointer?).self)(
      "com.example.startup", 1 << 5)
  let box = Unmanaged.passRetained(program).toOpaque()
  typealias Activate = @convention(c) (Pointer?, Pointer?) -> Void
  let onActivate: Activate = { application, box in
    let (window, program) = MainActor.assumeIsolated {
      let program = Unmanaged<StartUpProgram>.fromOpaque(box!).takeUnretainedValue()
      program.openNow(.gLib)
      readLinesInGLib(program)
      let window = symbol("gtk_application_window_new", as: (@convention(c) (Pointer?) -> Pointer?).self)(application)
      return (UInt(bitPattern: window), program)
    }
    _ = program
    symbol("gtk_window_present", as: (@convention(c) (Pointer?) -> Void).self)(Pointer(bitPattern: window))
  }
  _ = symbol(
    "g_signal_connect_data",
    as: (@convention(c) (Pointer?, UnsafePointer<CChar>, Activate, Pointer?, Pointer?, Int32) -> UInt).self)(
      application, "activate", onActivate, box, nil, 0)
  _ = symbol("g_application_run", as: (@convention(c) (Pointer?, Int32, Pointer?) -> Int32).self)(application, 0, nil)
}

private func readLinesInGLib(_ program: StartUpProgram) {
  typealias Source = @convention(c) (Pointer?) -> Int32
  let add = symbol("g_idle_add", as: (@convention(c) (Source, Pointer?) -> UInt32).self)
  program.readLines { block in
    _ = add(
      { box in
        Unmanaged<Block>.fromOpaque(box!).takeRetainedValue().run()
        return 0
      }, Unmanaged.passRetained(Block(run: block)).toOpaque())
  }
}

private final class Block: Sendable {
  let run: @Sendable () -> Void
  init(run: @escaping @Sendable () -> Void) { self.run = run }
}
