import Foundation
import RestorationArchive

// snippet: CodingValues
struct Message: Codable, Equatable {
  var sender = "", text = ""
  var sent = Date(timeIntervalSinceReferenceDate: 0)
  var attachments: [Data] = []
}

func store(_ messages: [Message], at file: URL) throws {
  try ArchiveEncoder().encode(messages).write(to: file, options: .atomic)
}

func messages(at file: URL) throws -> [Message] {
  try ArchiveDecoder().decode([Message].self, from: Data(contentsOf: file))
}
// snippet end
