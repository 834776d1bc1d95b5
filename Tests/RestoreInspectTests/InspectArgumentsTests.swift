import Testing
import restore_inspect

@Suite struct InspectArgumentsTests {
  @Test(arguments: InspectArguments.Verb.allCases)
  func `every command takes a directory`(verb: InspectArguments.Verb) throws {
    let arguments = try InspectArguments([verb.rawValue, "/state", "--node", "root"])
    #expect(arguments.verb == verb && arguments.path == "/state" && arguments.node == ["root"])
  }

  @Test func `options may stand anywhere, and identifiers may hold anything`() throws {
    let arguments = try InspectArguments([
      "--json", "show", "--node", "a/b", "--reveal", "/state", "--node", "--c", "--application", "x", "--scene", "s",
      "--slot", "t", "--passcode-fd", "3",
    ])
    #expect(arguments.isJSON && arguments.reveals)
    #expect(arguments.node == ["a/b", "--c"])
    #expect(arguments.application == "x" && arguments.scene == "s" && arguments.slot == "t")
    #expect(arguments.passcode == .descriptor(3))
  }

  @Test func `after two dashes nothing is an option`() throws {
    #expect(try InspectArguments(["tree", "--", "--state"]).path == "--state")
  }

  @Test(arguments: [["--help"], ["tree", "-h"]])
  func `help needs nothing else`(words: [String]) throws {
    #expect(try InspectArguments(words).verb == nil)
  }

  @Test(arguments: [
    [], ["tree"], ["tree", ""], ["tree", "a", "b"], ["look", "a"], ["show", "a"], ["tree", "a", "--passcode"],
    ["tree", "a", "--passcode", "1234"], ["tree", "a", "--passcode-fd"], ["tree", "a", "--passcode-fd", "-1"],
    ["tree", "a", "--passcode-fd", "x"], ["tree", "a", "--passcode-prompt", "--passcode-fd", "0"],
    ["tree", "a", "--slot"],
  ])
  func `a command line that makes no sense is one clear line`(words: [String]) throws {
    let failure = try #require(throws: InspectFailure.self) { try InspectArguments(words) }
    #expect(failure.code == .usage)
    #expect(!failure.message.isEmpty && !failure.message.contains("\n"))
  }

  @Test func `the help names every command, option and exit code`() {
    for verb in InspectArguments.Verb.allCases { #expect(InspectHelp.text.contains("  \(verb.rawValue) ")) }
    for code in InspectExitCode.allCases { #expect(InspectHelp.text.contains("  \(code.rawValue)  \(code.meaning)")) }
  }
}
