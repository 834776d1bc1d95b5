#if canImport(Glibc)
import DataProtection
import Glibc

/// Reads a passcode into memory that is wiped.
enum PasscodeReader {
  /// Reads from where the command line says; `nil` when there is no passcode.
  ///
  /// Asked again, it asks the terminal again, or reads the descriptor's next line.
  static func read(_ source: InspectArguments.PasscodeSource) throws(InspectFailure) -> ProtectedDevice.Passcode? {
    switch source {
    case .none: return nil
    case .descriptor(let descriptor): return try read(descriptor)
    case .prompt:
      guard let terminal = SilentTerminal() else {
        throw InspectFailure(.usage, "There is no terminal to ask on without echo; use --passcode-fd.")
      }
      defer { terminal.giveBack() }
      terminal.write("Passcode: ")
      return try read(terminal.descriptor)
    }
  }

  /// Reads up to the first line break or the end.
  private static func read(_ descriptor: Int32) throws(InspectFailure) -> ProtectedDevice.Passcode {
    // One array of the final size, filled in place: growing it would leave copies behind.
    var buffer = [UInt8](repeating: 0, count: ProtectedDevice.Passcode.lengths.upperBound + 1)
    defer { unsafe buffer.withUnsafeMutableBytes { unsafe explicit_bzero($0.baseAddress!, $0.count) } }
    var count = 0
    while count < buffer.count {
      let got = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress! + count, 1) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else {
        throw InspectFailure(.usage, "The passcode can't be read from descriptor \(descriptor).")
      }
      if got == 0 || buffer[count] == UInt8(ascii: "\n") { break }
      count += 1
    }
    guard count > 0 else { throw InspectFailure(.usage, "The passcode is empty.") }
    do throws(ProtectionError) {
      return try ProtectedDevice.Passcode(copying: buffer.span.extracting(first: count))
    } catch {
      throw InspectFailure(.usage, error.message)
    }
  }
}
#endif
