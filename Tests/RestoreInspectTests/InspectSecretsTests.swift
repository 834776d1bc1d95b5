import DataProtection
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// What must not be shown is not shown, by any command in any form.
@MainActor @Suite struct InspectSecretsTests {
  private static let passcode = "correct horse battery"

  @Test(arguments: InspectArguments.Verb.allCases)
  func `neither passcode nor key material is in any output`(verb: InspectArguments.Verb) async throws {
    let state = try await InspectedState(passcode: Self.passcode)
    var secrets = [Array(Self.passcode.utf8)]
    for (path, bytes) in state.contents() {
      let name = path.split(separator: "/").last ?? ""
      // The device key, the keybag's key, the wrapped class keys, and the codes of the counter.
      if name == "device.key" || name.hasPrefix("effaceable-") || name == "attempts" { secrets.append(bytes) }
      if name.hasPrefix("keybag-") { secrets.append(Array(bytes.suffix(200))) }
    }
    #expect(secrets.count == 5)
    // Names of the keybag and its keys stand in sealed files, and tell nothing.
    let keybag = await state.run("keybag", InspectedState.path, "--json")
    let names = keybag.output.matches(of: #/"identifier" : "([0-9a-f]+)"/#).map { String($0.output.1) }
    #expect(names.count >= 5)
    for passcode in [Self.passcode, "a wrong one", nil] {
      for form in [[], ["--json"], ["--reveal"], ["--json", "--reveal"]] {
        let tool = InspectTool(
          environment: InspectedState.environment(state.disk), style: InspectStyle(hasColours: false))
        let result = await tool.run([verb.rawValue, InspectedState.path, "--node", "root", "--node", "editor"] + form) {
          _ throws(InspectFailure) in
          guard let passcode else { return nil }
          do throws(ProtectionError) { return try ProtectedDevice.Passcode(passcode) } catch {
            throw InspectFailure(error)
          }
        }
        let output = names.reduce(result.output + result.error) { $0.replacingOccurrences(of: $1, with: "…") }
        for secret in secrets { #expect(!Self.shows(secret, in: output), "\(verb) \(form)") }
        #expect(!output.contains("a wrong one"))
      }
    }
  }

  /// Whether any eight bytes in a row of a secret are in a text, as they are, in hexadecimal digits, or in base 64.
  private static func shows(_ secret: [UInt8], in text: String) -> Bool {
    let bytes = Data(text.utf8)
    let lower = text.lowercased()
    return secret.indices.dropLast(7).contains { start in
      let window = Array(secret[start..<start + 8])
      if Set(window).count < 4 { return false }
      if bytes.range(of: Data(window)) != nil { return true }
      if lower.contains(window.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()) { return true }
      return text.contains(String(Data(window).base64EncodedString().dropLast(2)))
    }
  }

  @Test func `a window of a secret would be seen in every form`() {
    let secret: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4, 5, 6]
    #expect(Self.shows(secret, in: "x adbeef0102030405 y") && Self.shows(secret, in: "DEADBEEF01020304"))
    #expect(Self.shows(secret, in: Data(secret).base64EncodedString()))
    #expect(!Self.shows(secret, in: "dead beef"))
  }

  @Test func `an export for others has neither values nor identifiers of model objects`() async throws {
    let state = try await InspectedState()
    for form in [[], ["--json"]] {
      let tool = InspectTool(
        environment: InspectedState.environment(state.disk), style: InspectStyle(hasColours: false))
      let redacted = await tool.run(["export", InspectedState.path] + form) { _ in nil }
      #expect(redacted.code == .success)
      #expect(!redacted.output.contains("secret") && !redacted.output.contains("note-7"))
      #expect(redacted.output.contains("editor") && redacted.output.contains("of 6 bytes"))
      let revealed = await tool.run(["export", InspectedState.path, "--reveal"] + form) { _ in nil }
      #expect(revealed.output.contains("a secret draft") && revealed.output.contains("note-7"))
    }
  }
}
