package import Foundation

/// The memory of a process as `/proc` tells of it.
package struct MemoryMap {
  struct Region {
    var range: Range<UInt>
    var isWritable: Bool
    var name: String
    /// The two-letter flags of `smaps`: `dd` is left out of core dumps.
    var flags: Set<String>
  }

  let process: String
  var regions: [Region] = []

  /// The memory of this process.
  package static func own() throws -> MemoryMap { try MemoryMap(process: "self") }

  /// Reads the table of a process's regions.
  ///
  /// - Parameter process: A process identifier, or `self`.
  package init(process: String) throws {
    self.process = process
    // Foundation reads such a file once, and the kernel gives it out page by page.
    let file = unsafe open("/proc/\(process)/smaps", O_RDONLY)
    guard file >= 0 else { throw CocoaError(.fileReadNoPermission) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(file, &page, page.count)
      guard count > 0 else { break }
      bytes += page[..<count]
    }
    let text = String(decoding: bytes, as: UTF8.self)
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0] == "VmFlags:" {
        regions[regions.count - 1].flags = Set(words.dropFirst().map(String.init))
      } else if !words[0].hasSuffix(":"), words.count >= 5 {
        let ends = words[0].split(separator: "-").map { UInt($0, radix: 16)! }
        regions.append(
          Region(
            range: ends[0]..<ends[1], isWritable: words[1].hasPrefix("rw"),
            name: words.count > 5 ? String(words[5]) : "",
            flags: []))
      }
    }
  }

  /// Whether the needle is among the first bytes: by its first byte, as most memory has none of it.
  package static func contains(_ bytes: Data, _ count: Int, _ needle: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset + needle.count <= count {
        let start = unsafe bytes.baseAddress! + offset
        guard let hit = unsafe memchr(start, Int32(needle[0]), count - needle.count - offset + 1) else { return false }
        if unsafe memcmp(hit, needle, needle.count) == 0 { return true }
        offset += unsafe UnsafeRawPointer(hit) - start + 1
      }
      return false
    }
  }

  /// The flags of the region that holds an address.
  package func flags(at address: UInt) -> Set<String>? {
    regions.first { $0.range.contains(address) }?.flags
  }

  /// Where the needles occur, with the region's name: among all memory, or only what a core dump would hold.
  package func occurrences(of needles: [String: [UInt8]], onlyDumped: Bool) throws -> [String] {
    let memory = unsafe open("/proc/\(process)/mem", O_RDONLY)
    guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
    defer { close(memory) }
    var found: [String] = []
    let step: UInt = 4 << 20
    for region in regions where region.isWritable && !region.name.hasPrefix("[v") {
      if onlyDumped, region.flags.contains("dd") { continue }
      var start = region.range.lowerBound
      while start < region.range.upperBound {
        // Steps overlap so that nothing is missed between two.
        let count = Int(min(step + 64, region.range.upperBound - start))
        var bytes = Data(count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(memory, $0.baseAddress!, count, off_t(start)) }
        if got > 0 {
          for (name, needle) in needles where Self.contains(bytes, got, needle) {
            found.append("\(name) in \(region.name.isEmpty ? "anonymous memory" : region.name)")
          }
        }
        start += step
      }
    }
    return found
  }

  /// How often a needle occurs in all memory that a core dump would hold.
  ///
  /// - Parameters:
  ///   - disguised: The needle with every byte changed, so that it isn't found in the argument.
  ///   - mask: What every byte was changed by.
  package func count(ofDisguised disguised: [UInt8], mask: UInt8) throws -> Int {
    try counts(ofDisguised: ["": disguised], mask: mask, onlyDumped: true)[""]!
  }

  /// How often each of some needles occurs in memory that can be written.
  ///
  /// - Parameters:
  ///   - disguised: The needles with every byte changed.
  ///   - mask: What every byte was changed by.
  ///   - onlyDumped: Whether memory that is kept out of core dumps is passed over.
  package func counts(
    ofDisguised disguised: [String: [UInt8]], mask: UInt8, onlyDumped: Bool
  ) throws -> [String: Int] {
    let memory = unsafe open("/proc/\(process)/mem", O_RDONLY)
    guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
    defer { close(memory) }
    var counts = disguised.mapValues { _ in 0 }
    for region in regions where region.isWritable && !region.name.hasPrefix("[v") {
      if onlyDumped, region.flags.contains("dd") { continue }
      let length = region.range.count
      guard let bytes = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) else {
        throw CocoaError(.fileReadNoPermission)
      }
      defer { unsafe munmap(bytes, length) }
      let read = unsafe pread(memory, bytes, length, off_t(region.range.lowerBound))
      for (name, needle) in disguised {
        var got = read
        var start = unsafe UnsafePointer(bytes.assumingMemoryBound(to: UInt8.self))
        let first = Int32(needle[0] ^ mask)
        while got >= needle.count, let hit = unsafe memchr(start, first, got - needle.count + 1) {
          let found = unsafe UnsafePointer(hit.assumingMemoryBound(to: UInt8.self))
          var index = 1
          while index < needle.count, unsafe found[index] == needle[index] ^ mask { index += 1 }
          if index == needle.count { counts[name]! += 1 }
          got -= unsafe found + 1 - start
          unsafe start = found + 1
        }
      }
    }
    return counts
  }
}
