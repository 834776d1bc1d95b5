import Foundation
import OwnThread

/// SHA-512 as HMAC's building block isn't exposed by the module, so the tests have the machine's `sha512sum` do it.
func sha512(_ bytes: [UInt8]) async -> String {
  await onThread { sumOnThread(bytes) }
}

private func sumOnThread(_ bytes: [UInt8]) -> String {
  let file = FileManager.default.temporaryDirectory.appending(path: "sealing-\(UUID().uuidString)")
  try! Data(bytes).write(to: file)
  defer { try? FileManager.default.removeItem(at: file) }
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(filePath: "/usr/bin/sha512sum")
  process.arguments = [file.path()]
  process.standardOutput = output
  try! process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return String(text.prefix(128))
}
