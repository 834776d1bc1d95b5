#if canImport(Glibc)
import DataProtection
import FileSystem
import Foundation
import Glibc
import Testing

/// Names that are no UTF-8, put into a device's directories on the real disk.
@Suite struct OddNamesTests {
  @Test(arguments: [false, true])
  func `a device is erased whatever names somebody has put there`(isOpen: Bool) async throws {
    let path = NSTemporaryDirectory() + "odd-names-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let environment = DeviceEnvironment(scrypt: .test, variables: { _ in nil })
    func open() async throws -> ProtectedDevice {
      try await ProtectedDevice.open(at: .directory(path), environment: environment)
    }
    let device = try await open()
    let archives = try device.archives(for: ArchiveSlot(application: "a"))
    try archives.publish(Data("old".utf8))
    archives.close()
    try device.files(in: "drafts").create("x", contents: Data("text".utf8)).close()
    var planted = 0
    for directory in try FileManager.default.subpathsOfDirectory(atPath: path).map({ "\(path)/\($0)" }) + [path] {
      var isDirectory: ObjCBool = false
      _ = unsafe FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory)
      guard isDirectory.boolValue else { continue }
      for name in [[0x67, 0x2D, 0xFF], [0xC3, 0x28]] as [[UInt8]] {
        let item = (Array("\(directory)/".utf8) + name + [0]).map(CChar.init(bitPattern:))
        if name.count == 2 {
          #expect(unsafe mkdir(item, 0o700) == 0)
        } else {
          let file = unsafe fopen(item, "w")
          try #require(unsafe file != nil)
          unsafe fclose(file)
        }
        planted += 1
      }
    }
    #expect(planted >= 8)
    // They are in nobody's way.
    #expect(try await open().archives(for: ArchiveSlot(application: "a")).openNewest().readAll() == Data("old".utf8))
    if isOpen {
      try await device.eraseAllContent()
    } else {
      try await ProtectedDevice.eraseAllContent(at: .directory(path), environment: environment)
    }
    let next = try await open()
    let renewed = try next.archives(for: ArchiveSlot(application: "a"))
    #expect(try errorCode { try renewed.openNewest() } == .notFound)
    try renewed.publish(Data("new".utf8))
    #expect(try next.files(in: "drafts").list().isEmpty)
  }
}
#endif
