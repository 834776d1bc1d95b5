import Foundation
import OwnThread
import SavedFiles
import Testing

/// The programs of Docs/Examples come back after `kill -9`.
struct ExampleTests {
  @Test func `the tutorial ends as it says`() async throws {
    let program = try Example("todo")
    defer { program.remove() }
    try await program.run([
      ("tab", "[New]"), ("Milk", "Draft: Milk"), ("add", "Draft: \n"), ("tab", "  1 Milk"), ("1", "> 1 Milk"),
      ("open", "Item: Milk"), ("tab", "Draft: "), ("Bread", "Draft: Bread"),
    ])
    try await program.run([(nil, "Draft: Bread"), ("tab", "Item: Milk"), ("back", "> 1 Milk")])
  }

  @Test func `the to-do program comes back after a kill with tab, stack, selection and draft`() async throws {
    let program = try Example("todo")
    defer { program.remove() }
    try await program.run([
      ("tab", "[New]"), ("Milk", "Draft: Milk"), ("add", "Draft: \n"), ("Bread", "Draft: Bread"), ("add", "Draft: \n"),
      ("Soap", "Draft: Soap"), ("tab", "  1 Bread"), ("2", "> 2 Milk"), ("open", "Item: Milk"), ("tab", "Draft: Soap"),
    ])
    try await program.run([(nil, " Items  [New]\nDraft: Soap"), ("tab", "Item: Milk"), ("back", "> 2 Milk")])
    // The selection follows its item, also when the rows have moved.
    try await program.run([(nil, "> 2 Milk"), ("tab", "Draft: Soap"), ("add", "Draft: \n"), ("tab", "> 3 Milk")])
    try await program.run([(nil, "  1 Soap\n  2 Bread\n> 3 Milk")])
  }

  @Test func `windows, their texts and a dialogue come back after a kill`() async throws {
    let program = try Example("two-windows")
    defer { program.remove() }
    try await program.run([
      ("", "* first: Untitled"), ("one", "Untitled: one"), ("window second", "* second"), ("two", "Untitled: two"),
      ("rename", "New title?"), ("Shop", "New title? Shop"),
    ])
    // The result of the dialogue reaches its window in another run than the one that presented it.
    try await program.run([(nil, "New title? Shop"), ("ping", "New title? Shopping"), ("", "* second: Shopping: two")])
    try await program.run([
      (nil, "* second: Shopping: two\n  first: Untitled: one"), ("close", "* first: Untitled: one"),
    ])
    try await program.run([
      (nil, "* first: Untitled: one"), ("reopen", "* second: Shopping: two"), ("reopen", "No window was closed."),
    ])
  }

  @Test func `windows with a passcode come back at the unlock`() async throws {
    let program = try Example("two-windows")
    defer { program.remove() }
    try await program.run([
      ("", "* first: Untitled"), ("one", "Untitled: one"), ("window second", "* second"), ("two", "Untitled: two"),
      ("passcode 1234", "* second"), ("!", "Untitled: two!"),
    ])
    try await program.run([
      (nil, "Passcode:"), ("99", "Not right."), ("1234", "* second: Untitled: two!\n  first: Untitled: one"),
      ("?", "Untitled: two!?"),
    ])
    try await program.run([(nil, "Passcode:"), ("1234", "* second: Untitled: two!?\n  first: Untitled: one")])
  }

  @Test func `entries that were written while locked join the diary at the unlock`() async throws {
    let program = try Example("locked-diary")
    defer { program.remove() }
    try await program.run([
      (nil, "Choose"), ("1234", "new or lock?"), ("new", "Dear diary,"), ("first", "new or lock?"),
      ("lock", "Passcode:"),
      ("new", "Dear diary,"), ("second", "Passcode:"), ("99", "Not right."),
      ("1234", "  1: first\n  2: second\nnew or lock?"),
    ])
    // What was written is there, and not what it says.
    try await program.run([
      (nil, "  1: ···\n  2: ···\nPasscode:"), ("new", "Dear diary,"), ("third", "Passcode:"),
    ])
    try await program.run([
      (nil, "  1: ···\n  2: ···\n  3: ···\nPasscode:"), ("new", "Dear diary,"), ("fourth", "Passcode:"),
      ("1234", "  1: first\n  2: second\n  3: third\n  4: fourth\nnew or lock?"),
    ])
  }

  @Test func `the guide's listings come back after a kill at each step`() async throws {
    let program = try Example("guide")
    defer { program.remove() }
    // Identifiers, the data source's model identifiers, and the program's own state.
    try await program.run([(nil, "1 apple"), ("2", "> 2 banana")])
    try await program.run([(nil, "> 2 banana"), ("sort", "> 2 banana\n  3 apple"), ("3", "> 3 apple")])
    try await program.run([(nil, "  1 cherry\n  2 banana\n> 3 apple")])
    // A restoration class makes the editor; its state adds to that of its superclass; a view has its own.
    try await program.run([("edit", "Editor of apple, visit 1:  [0, 0]"), ("type Draft", "visit 1: Draft [0, 0]")])
    try await program.run([(nil, "Editor of apple, visit 1: Draft [0, 0] restored"), ("select 1 3", "[1, 3]")])
    try await program.run([(nil, "Editor of apple, visit 1: Draft [1, 3] restored")])
    // The version check refuses, and nothing is lost by a launch that saves nothing.
    try await program.run([(nil, "1 apple")], environment: ["GUIDE_REFUSES_VERSION": "1"])
    try await program.run([(nil, "Editor of apple, visit 1: Draft [1, 3] restored")])
    // What an interrupted program saves, and what changes in the background.
    try await program.run([("type !", "Draft!"), ("focus", "State: inactive"), (nil, "State: inactive")])
    try await program.run([
      (nil, "visit 1: Draft! [1, 3] restored"), ("work", "Draft! synced"), (nil, "Draft! synced"),
    ])
    try await program.run([
      (nil, "Snapshot: editor of apple\nEditor of apple, visit 1: Draft! synced"), ("type ?", "synced?"),
    ])
    // A later save and a kill: no picture of the older state.
    try await program.run([
      (nil, "Editor of apple, visit 1: Draft! synced?"), ("pictured", "Pictured: false"), (nil, "Pictured: false"),
    ])
  }

  @Test func `the guide's file keeps its class, its handle and what is appended`() async throws {
    let program = try Example("guide")
    defer { program.remove() }
    try await program.run([
      (nil, "1 apple"), ("write Dear", "ok"), ("append  diary", "ok"), ("read", "File: Deardiary"),
      ("protect unlessOpen", "Class: completeUnlessOpen"), ("protect complete", "Class: complete\n"),
      ("handle", "ok"), ("handled", "Handle: 9"), ("focus", "State: inactive"), ("handled", "Handle: invalidHandle"),
      ("focus", "State: active"), ("handled", "Handle: 9"), ("append !", "ok"), ("passcode 1234", "ok"),
      ("lock", "ok"), ("read", "File: locked"), ("unlock 1234", "ok"), ("read", "File: Deardiary!"),
      ("2", "> 2 banana"),
    ])
    try await program.run([
      (nil, "1 apple"), ("read", "File: locked"), ("unlock 1234", "> 2 banana"), ("read", "File: Deardiary!"),
      ("3", "> 3 cherry"),
    ])
  }

  @Test func `the guide's URL opens after restoring, or is declined, and reaches the program that runs`() async throws {
    let program = try Example("guide")
    defer { program.remove() }
    try await program.run([("2", "> 2 banana")])
    try await program.run([(nil, "Editor of cherry, visit 1"), ("back", "> 2 banana")], arguments: ["note:cherry"])
    try await program.run([(nil, "> 2 banana")], arguments: ["https:cherry"])
    try await program.run([
      (nil, "> 2 banana"), ("away", "ok"), ("url note:apple", "Opened: true\nEditor of apple"),
      ("url note:none", "Opened: false"), ("heard", "resigned, background, foreground"),
      ("type z", ": z "),
    ])
    try await program.run([(nil, "Editor of apple, visit 1: z [0, 0] restored")])
  }

  @Test func `views of a declarative toolkit come back after a kill, with focus and caret`() async throws {
    let program = try Example("declarative")
    defer { program.remove() }
    try await program.run([
      (nil, "  [work]\n  Page home"), ("tab", "> [home]"), ("tab", "> [work]"), ("enter", "  Page work"),
      ("tab", "> Title: |"), ("Plans", "> Title: Plans|"), ("tab", "> Text: |"), ("milk bread", "> Text: milk bread|"),
    ])
    try await program.run([
      (nil, "Page work\n  Title: Plans\n> Text: milk bread|"), ("left", "milk brea|d"), ("left", "milk bre|ad"),
    ])
    // The caret is in the middle of the word that is typed on.
    try await program.run([
      (nil, "> Text: milk bre|ad"), ("xx", "> Text: milk brexx|ad"), ("tab", "> [home]"),
      ("enter", "Page home\n  Title: \n"),
    ])
    // A page that was not shown in the last run has its texts and carets, too.
    try await program.run([
      (nil, "> [home]"), ("tab", "> [work]"), ("enter", "Page work\n  Title: Plans\n  Text: milk brexxad"),
      ("tab", "> Title: Plans|"), ("tab", "> Text: milk brexx|ad"),
    ])
  }

  @Test func `few lines of the programs are about restoration`() throws {
    func count(_ code: String) -> Int {
      let lines = code.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
      // The stock controllers hold what any program with a list, a stack and tabs has to hold.
      return lines.count { line in
        line.contains(/(?i)restor|stored|registry|association|dataSource|modelIdentifier/)
          && !line.contains(/= (List|Navigation|Tab)Controller\(/)
      }
    }
    let draft = try #require(try SnippetTests.snippets()["QuickStart"]).code
    #expect(draft.split(separator: "\n").count <= 15)
    #expect(count("import StateRestoration\n" + draft) <= 5)
    for (program, limit) in [("todo", 12), ("two-windows", 15)] {
      #expect(count(try String(contentsOf: Example.source(program), encoding: .utf8)) <= limit, "\(program)")
    }
  }
}

/// A program of Docs/Examples, with a directory of its own for its state and files.
struct Example {
  private let program: String
  private let folder: URL

  init(_ program: String) throws {
    self.program = program
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(program)-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  static func source(_ program: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Docs/Examples/\(program)/main.swift")
  }

  /// Starts the program, types lines, and kills it when the last change is saved.
  ///
  /// Each line is typed when the one before it is answered; nil types nothing, and waits for the screen of the launch.
  func run(
    _ lines: [(typed: String?, answer: String)], arguments: [String] = [], environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let (program, folder) = (program, folder)
    let failure = try await onThread {
      try Self.type(lines, into: program, arguments, environment, in: folder)
    }
    #expect(failure == nil, sourceLocation: sourceLocation)
  }

  /// Returns what was shown instead of an answer; nil when all came.
  private static func type(
    _ lines: [(typed: String?, answer: String)], into program: String, _ arguments: [String],
    _ environment: [String: String], in folder: URL
  ) throws -> String? {
    let process = Process()
    let products = Bundle.main.bundleURL
    let executable = products.appendingPathComponent(program).path
    // Its output is buffered by lines, as in a terminal.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
    process.arguments = ["-oL", executable] + arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": folder.path]) { $1 }
      .merging(environment) { $1 }
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let identifier = process.processIdentifier
    // A program that doesn't answer ends, so that reading ends too.
    let deadline = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 90, execute: deadline)
    defer {
      deadline.cancel()
      kill(identifier, SIGKILL)
      process.waitUntilExit()
    }
    var (shown, lastTyped) = ("", Date.distantPast)
    for (typed, answer) in lines {
      if let typed {
        (shown, lastTyped) = ("", Date.now)
        try input.fileHandleForWriting.write(contentsOf: Array((typed + "\n").utf8))
      }
      while !shown.contains(answer) {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { return "\(typed ?? "the launch") is not answered by “\(answer)”, but by: \(shown)" }
        shown += String(decoding: data, as: UTF8.self)
      }
    }
    if lines.last?.typed != nil { waitForSave(since: lastTyped, in: folder) }
    return nil
  }

  /// Waits until a file was written since a moment, and then none for twice the interval of automatic preservation.
  private static func waitForSave(since moment: Date, in folder: URL) {
    let end = Date.now + 60
    while Date.now < end {
      let newest = SavedFiles.newestChange(below: folder)
      // The clock of the file system is a few milliseconds late.
      if newest > moment - 0.02, Date.now.timeIntervalSince(newest) > 0.5 { return }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }
}
