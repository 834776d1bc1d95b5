import Foundation

/// Where and how a run was made.
enum Environment {
  /// Facts by name.
  static func describe(isDebug: Bool) -> [String: String] {
    var facts = [
      "build": isDebug ? "debug (figures mean nothing)" : "release",
      "system": ProcessInfo.processInfo.operatingSystemVersionString,
      "processors": "\(ProcessInfo.processInfo.activeProcessorCount)",
      "clock": "thread CPU time for work on values, wall time for the disk; medians",
    ]
    if let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("model name") }),
      let colon = line.firstIndex(of: ":")
    {
      facts["processor"] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return facts
  }
}
