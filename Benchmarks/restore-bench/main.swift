import Foundation

/// Says one line on the error stream.
func complain(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

if CommandLine.arguments.dropFirst().first == LaunchChild.argument {
  do {
    try await LaunchChild(CommandLine.arguments.dropFirst(2)).run()
    exit(0)
  } catch {
    complain("restore-bench: \(error)")
    exit(1)
  }
}

let options: Options
let before: Report?
do {
  guard let parsed = try Options.parse(Array(CommandLine.arguments.dropFirst())) else {
    print(Options.usage)
    exit(0)
  }
  options = parsed
  before = try options.compare.map { path in
    do {
      return try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch { throw Options.Problem(description: "--compare: \(path) is not what --save writes") }
  }
} catch {
  complain("restore-bench: \(error)")
  exit(64)
}

#if DEBUG
let isDebug = true
complain("*** A debug build: the figures below mean nothing. Use swift run -c release restore-bench. ***")
#else
let isDebug = false
#endif

let isTerminal = isatty(2) == 1
let bench = Bench(options: options) { text in
  if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K\(text) …".utf8)) }
}
do {
  let results = try await bench.run()
  if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
  let report = Report(environment: Environment.describe(isDebug: isDebug), results: results)
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
  if options.printsJSON {
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  } else {
    for (name, value) in report.environment.sorted(by: { $0.key < $1.key }) { print("\(name): \(value)") }
    for line in Table.lines(report) + Legend.lines(report) { print(line) }
  }
  if let path = options.save { try encoder.encode(report).write(to: URL(fileURLWithPath: path)) }
  if let before {
    // Beside a JSON object nothing else may be printed where it goes.
    for line in Comparison.lines(report, with: before) { options.printsJSON ? complain(line) : print(line) }
  }
  if let folder = options.page { try Page.write(report, to: folder) }
  if !options.printsJSON {
    #if DEBUG
    print("A debug build meets or misses no target.")
    #else
    print(Page.verdict(report))
    #endif
  }
} catch {
  complain("\(isTerminal ? "\r\u{1B}[K" : "")restore-bench: \(error)")
  exit(1)
}
