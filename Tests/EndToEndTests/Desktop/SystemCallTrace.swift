import Foundation

/// The system calls of a program that `strace` ran, in the order in which they returned.
struct SystemCallTrace {
  /// A call that succeeded.
  struct Call {
    var name: String
    /// Its arguments, as `strace -y` writes them.
    var arguments: String

    /// The files behind the descriptors among the arguments.
    var files: [String] { arguments.matches(of: /\d<([^>]*)>/).map { String($0.1) } }
  }

  private(set) var calls: [Call] = []

  /// The arguments before a program's own, which have `strace` write the calls that matter into a file.
  static func arguments(writingTo path: String) -> [String] {
    let calls =
      "pwrite64,write,writev,fdatasync,fsync,rename,renameat,renameat2,link,linkat,unlinkat,ftruncate,recvmsg,close"
    return ["-f", "-qq", "-y", "-s", "400", "-e", "trace=\(calls)", "-e", "signal=none", "-o", path]
  }

  /// Reads a trace; a call that another thread interrupted is at the place of its second half.
  init(at path: String) throws {
    var begun: [Substring: Substring] = [:]
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard parts.count == 2 else { continue }
      var text = parts[1].drop { $0 == " " }
      let thread = parts[0]
      if let cut = text.range(of: "<unfinished ...>") {
        begun[thread] = text[..<cut.lowerBound]
        continue
      }
      if text.hasPrefix("<... "), let rest = text.range(of: "resumed>") {
        text = Substring((begun.removeValue(forKey: thread) ?? "") + text[rest.upperBound...])
      }
      guard let call = text.wholeMatch(of: /(\w+)\((.*)\) += (?:[0-9]|0x).*/) else { continue }
      calls.append(Call(name: String(call.1), arguments: String(call.2)))
    }
  }

  /// The changes of files below a folder that no later sync in a range makes durable; locks need none.
  func unsyncedChanges(below folder: String, in range: Range<Int>) -> [Call] {
    range.filter { index in
      guard let file = change(index, below: folder), !file.hasSuffix("/lock") else { return false }
      return !calls[index..<range.upperBound].contains { $0.name.hasSuffix("sync") && $0.files.first == file }
    }.map { calls[$0] }
  }

  /// How many calls of a range change files below a folder.
  func changeCount(below folder: String, in range: Range<Int>) -> Int {
    range.count { change($0, below: folder) != nil }
  }

  /// The file or folder that a call changes; nil when it changes none below a folder.
  private func change(_ index: Int, below folder: String) -> String? {
    let call = calls[index]
    guard call.name.contains(/write|rename|link|truncate/), let file = call.files.last else { return nil }
    return file.hasPrefix(folder) ? file : nil
  }
}
