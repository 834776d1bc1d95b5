import Foundation

let (parsed, problem) = Options.parse(Array(CommandLine.arguments.dropFirst()))
guard let options = parsed else {
  FileHandle.standardError.write(Data((problem.isEmpty ? Options.usage : "\(problem)\n\(Options.usage)").utf8 + [10]))
  exit(problem.isEmpty ? 0 : 64)
}

#if DEBUG
let isDebug = true
FileHandle.standardError.write(
  Data("*** A debug build: the figures below mean nothing. Use swift run -c release restore-bench. ***\n".utf8))
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
    for line in Table.lines(report) { print(line) }
  }
  if let path = options.save { try encoder.encode(report).write(to: URL(fileURLWithPath: path)) }
  if let path = options.compare {
    let before = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    for line in Comparison.lines(report, with: before) { print(line) }
  }
  if let path = options.plot { try Plot.svg(report).write(toFile: path, atomically: false, encoding: .utf8) }
} catch {
  FileHandle.standardError.write(Data("\nrestore-bench: \(error)\n".utf8))
  exit(1)
}
