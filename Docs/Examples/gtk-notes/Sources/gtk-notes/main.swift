import CGtk
import Foundation
import StateRestoration

// gtk-notes [FOLDER] [--state DIR] [--log FILE]: notes in windows that come back as they were left.

ProtectedDevice.hardenProcess()
let arguments = Arguments(CommandLine.arguments.dropFirst())
g_set_prgname("gtk-notes")
guard gtk_init_check() != 0 else {
  fail("there is no display")
}
let loop = MainLoop()
// Kept here: the framework retains no delegate.
let program = Program(arguments)
Task {
  do {
    try await program.launch { loop.quit() }
  } catch {
    fail("\(error)")
  }
}
loop.run()

func fail(_ text: String) -> Never {
  try? FileHandle.standardError.write(contentsOf: Data("gtk-notes: \(text)\n".utf8))
  exit(1)
}
