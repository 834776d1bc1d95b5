#if canImport(Glibc)
import FaultyFileSystem
import FileSystem
import Foundation
import Glibc
import Testing

/// The simulated file system behaves as the kernel does: every step is made on both, and told in words.
@Suite struct ConformanceTests {
  @Test func `the simulated disk answers every step as the kernel does`() throws {
    let path = NSTemporaryDirectory() + "conformance-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let real = try Walk(LinuxFileSystem(), path)
    let simulated = try Walk(MemoryFileSystem(user: geteuid()), "/")
    for walk in [real, simulated] {
      walk.touchFiles()
      walk.touchDirectories()
      walk.name()
      walk.lock()
      walk.end()
    }
    #expect(real.log.count > 35)
    #expect(simulated.log == real.log)
  }
}

/// Makes steps on one file system, and tells what came of each.
private final class Walk {
  let files: any FileSystem
  let directory: Descriptor
  var open: [String: Descriptor] = [:]
  var log: [String] = []

  init(_ files: any FileSystem, _ path: String) throws {
    self.files = files
    directory = try files.openDirectory(atPath: path)
  }

  // MARK: Telling

  func step(_ name: String, _ body: () throws(FileSystemError) -> String) {
    do throws(FileSystemError) {
      log.append("\(name): \(try body())")
    } catch {
      log.append("\(name): errno \(error.code.rawValue)")
    }
  }

  func opens(_ name: String, _ options: OpenOptions, as key: String? = nil) {
    step("open \(name) \(options.rawValue)") { () throws(FileSystemError) in
      open[key ?? name] = try files.openFile(name, in: directory, options)
      return try status(open[key ?? name]!)
    }
  }

  func writes(_ key: String, _ bytes: [UInt8], at offset: Int64) {
    step("write \(key) at \(offset)") { () throws(FileSystemError) in
      try unsafe files.writeAll(open[key]!, bytes.span.bytes, at: offset)
      return try content(key)
    }
  }

  func changes(_ name: String, _ body: (Descriptor) throws(FileSystemError) -> Void) {
    step(name) { () throws(FileSystemError) in
      try body(directory)
      return try files.names(in: directory).sorted().joined(separator: " ")
    }
  }

  func locks(_ key: String, _ mode: LockMode) {
    step("lock \(key) \(mode)") { () throws(FileSystemError) in "\(try files.tryLock(open[key]!, mode))" }
  }

  func content(_ key: String) throws(FileSystemError) -> String {
    "\(try files.readBytes(open[key]!, count: 100))"
  }

  func status(_ descriptor: Descriptor) throws(FileSystemError) -> String {
    let status = try files.status(of: descriptor)
    return "\(status.kind) \(String(status.mode, radix: 8)) \(status.linkCount) names, \(status.byteCount) bytes"
  }

  // MARK: Steps

  func touchFiles() {
    opens("missing", [])
    opens("missing", .write)
    opens("a", [.write, .create, .exclusive])
    opens("a", [.write, .create, .exclusive])
    opens("a", [.write, .create], as: "again")
    opens("a", [], as: "reader")
    writes("a", [1, 2, 3], at: 0)
    writes("a", [9], at: 6)
    writes("again", [7], at: 1)
    writes("reader", [7], at: 1)
    step("read at and behind the end") { () throws(FileSystemError) in
      let behind = try files.readBytes(open["a"]!, count: 10, at: 50)
      return "\(behind), \(try files.readBytes(open["a"]!, count: 10, at: 5))"
    }
    step("allocate") { () throws(FileSystemError) in
      try files.allocate(open["a"]!, length: 9)
      try files.allocate(open["a"]!, length: 4)
      return try content("a")
    }
  }

  func touchDirectories() {
    for attempt in ["make folder", "make it again"] {
      changes(attempt) { directory throws(FileSystemError) in
        try files.makeDirectory("folder", in: directory, mode: 0o700)
      }
    }
    opens("folder", .write)
    changes("unlink folder") { directory throws(FileSystemError) in try files.unlink("folder", in: directory) }
    for name in ["a", "nothing"] {
      changes("open \(name) as a directory") { directory throws(FileSystemError) in
        _ = try files.openDirectory(name, in: directory)
      }
      changes("remove \(name) as a directory") { directory throws(FileSystemError) in
        try files.removeDirectory(name, in: directory)
      }
    }
    changes("fill and remove the folder") { directory throws(FileSystemError) in
      let folder = try files.openDirectory("folder", in: directory)
      files.close(try files.openFile("inside", in: folder, [.write, .create]))
      try files.removeDirectory("folder", in: directory)
    }
  }

  func name() {
    opens("b", [.write, .create], as: "new")
    writes("new", [5, 5], at: 0)
    for (name, replacing) in [("b", false), ("nothing", true), ("b", true)] {
      changes("rename \(name) to a, replacing \(replacing)") { directory throws(FileSystemError) in
        try files.rename(name, to: "a", in: directory, replacing: replacing)
      }
    }
    step("the replaced one is still open") { () throws(FileSystemError) in
      "\(try content("again")), \(try status(open["again"]!))"
    }
  }

  func lock() {
    opens("a", .write, as: "one")
    opens("a", .write, as: "two")
    locks("one", .shared)
    locks("two", .shared)
    locks("two", .exclusive)
    step("unlock both") { () throws(FileSystemError) in
      try files.unlock(open["one"]!)
      try files.unlock(open["two"]!)
      return ""
    }
    locks("two", .exclusive)
    locks("one", .shared)
    step("close the holder") { () throws(FileSystemError) in
      files.close(open["two"]!)
      return "\(try files.tryLock(open["one"]!, .exclusive))"
    }
  }

  func end() {
    for attempt in ["unlink a", "unlink it again"] {
      changes(attempt) { directory throws(FileSystemError) in try files.unlink("a", in: directory) }
    }
    opens(String(repeating: "x", count: 256), [.write, .create])
    step("sync") { () throws(FileSystemError) in
      try files.synchronize(directory)
      try files.synchronize(open["one"]!)
      try files.synchronizeData(open["one"]!)
      return "\(try files.volumeKind(of: directory) == .network)"
    }
  }
}
#endif
