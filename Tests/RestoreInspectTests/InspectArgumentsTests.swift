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

  @Test(arguments: [([], ""), (["/state"], "/state"), (["./tree"], "./tree"), (["."], "."), (["list"], "")])
  func `without a command there is a list, of a directory or of all`(words: [String], path: String) throws {
    let arguments = try InspectArguments(words)
    #expect(arguments.verb == .list && arguments.path == path)
    #expect(arguments.application == nil && arguments.scene == nil && !arguments.namesSlot)
  }

  @Test func `a page is an export`() throws {
    #expect(try InspectArguments(["/state", "--html", "x"]).verb == .export)
  }

  @Test func `after two dashes nothing is an option`() throws {
    #expect(try InspectArguments(["tree", "--", "--state"]).path == "--state")
  }

  @Test(arguments: [["--help"], ["tree", "-h"]])
  func `help needs nothing else`(words: [String]) throws {
    #expect(try InspectArguments(words).verb == nil)
  }

  @Test(arguments: [
    ["look"], ["list", "a", "b"], ["tree"], ["tree", ""], ["tree", "a", "b"], ["look", "a"], ["show", "a"],
    ["tree", "a", "--passcode"],
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
