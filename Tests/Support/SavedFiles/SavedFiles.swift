package import Foundation

/// What a program that runs beside a test has written.
package enum SavedFiles {
  /// When a file below a folder was written last; the distant past if there is none.
  package static func newestChange(below folder: URL) -> Date {
    var newest = Date.distantPast
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
      newest = max(newest, attributes?[.modificationDate] as? Date ?? newest)
    }
    return newest
  }
}
