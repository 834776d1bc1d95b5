import CGtk

/// A widget, and the casts that C's macros do.
struct Widget {
  let pointer: UnsafeMutablePointer<GtkWidget>

  init(_ pointer: UnsafeMutablePointer<GtkWidget>!) { self.pointer = pointer }

  /// As a type that Swift imports whole.
  func cast<T>(_ type: T.Type = T.self) -> UnsafeMutablePointer<T> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: type)
  }

  /// As a type that C keeps to itself.
  var opaque: OpaquePointer { OpaquePointer(pointer) }

  /// Calls a closure at every emission of a signal; its result matters to `close-request` alone.
  func connect(_ signal: String, _ body: @escaping @MainActor () -> Bool) { gtkConnect(pointer, signal, body) }
}

/// Calls a closure at every emission of any object's signal.
func gtkConnect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Bool) {
  let data = Unmanaged.passRetained(Handler(body: body)).toOpaque()
  cgtk_connect(object, signal, handleSignal, data, releaseHandler)
}

private nonisolated final class Handler: Sendable {
  let body: @MainActor () -> Bool
  init(body: @escaping @MainActor () -> Bool) { self.body = body }
}

private nonisolated let handleSignal: @convention(c) (UnsafeMutableRawPointer?) -> gboolean = { data in
  guard let data else { return 0 }
  let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
  // GTK calls on the main thread only.
  return MainActor.assumeIsolated { handler.body() } ? 1 : 0
}

private nonisolated let releaseHandler: GClosureNotify = { data, _ in
  if let data { Unmanaged<Handler>.fromOpaque(data).release() }
}

/// Calls a closure after a few frames of a widget: what it shows has its size and place by then.
func afterLayout(of widget: Widget, _ body: @escaping @MainActor () -> Void) {
  var frames = 0
  let data = Unmanaged.passRetained(
    Handler {
      frames += 1
      if frames == 4 { body() }
      return frames < 4
    }
  ).toOpaque()
  gtk_widget_add_tick_callback(widget.pointer, { _, _, data in handleSignal(data) }, data) { data in
    if let data { Unmanaged<Handler>.fromOpaque(data).release() }
  }
}
