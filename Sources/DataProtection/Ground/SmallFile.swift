import FileSystem

/// For reading alone; an empty literal of another module's option set is dear where a process has just begun.
let onlyReading = OpenOptions(rawValue: 0)

/// Opens a file; nil when there is none, `.corrupt` when something else stands in its place.
func openRegular(
  _ name: String, in directory: Descriptor, _ options: OpenOptions, _ fileSystem: any FileSystem
) throws(ProtectionError) -> Descriptor? {
  do throws(ProtectionError) {
    return try refusingOthers(name) { () throws(FileSystemError) in
      try fileSystem.openFile(name, in: directory, options)
    }
  } catch  where (error.cause as? FileSystemError)?.code == .noSuchFile {
    return nil
  }
}

/// Makes a call on a file; `.corrupt` when something that is no file stands in its place.
private func refusingOthers<R>(
  _ name: String, _ body: () throws(FileSystemError) -> R
) throws(ProtectionError) -> R {
  do throws(ProtectionError) {
    return try attempt("open or read \"\(name)\"", body)
  } catch  where (error.cause as? FileSystemError)?.code.isNoFile == true {
    throw ProtectionError(.corrupt, "Something that is no regular file stands in place of \"\(name)\".", cause: error)
  }
}

/// Makes a file in place of any entry of its name; throws when that can't be removed.
func makeFile(
  _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem
) throws(FileSystemError) -> Descriptor {
  let options: OpenOptions = [.write, .create, .exclusive]
  do throws(FileSystemError) {
    return try fileSystem.openFile(name, in: directory, options)
  } catch  where error.code == .fileExists {
    try clearName(name, in: directory, fileSystem)
    // A power cut may take the new file's name; the former file must not stand in its place then.
    try fileSystem.synchronize(directory)
    return try fileSystem.openFile(name, in: directory, options)
  }
}

/// Makes an empty file if there is none; anything else in its place makes room for it.
func touchFile(_ name: String, in directory: Descriptor, _ fileSystem: any FileSystem) throws(FileSystemError) {
  let options: OpenOptions = [.write, .create]
  do throws(FileSystemError) {
    fileSystem.close(try fileSystem.openFile(name, in: directory, options))
  } catch  where error.code.isNoFile {
    try clearName(name, in: directory, fileSystem)
    fileSystem.close(try fileSystem.openFile(name, in: directory, options))
  }
}

/// Reads a small file and parses it; nil when there is none, `.corrupt` when it is longer than it can be.
///
/// One read nearly always gives the whole file. Only when its bytes don't parse, the rest is looked for: the parser checks a
/// code over all bytes, so it never takes a part for the whole.
func readSmallFile<R>(
  _ name: String, in directory: Descriptor, limit: Int, _ fileSystem: any FileSystem,
  _ parse: ([UInt8]) throws(ProtectionError) -> R
) throws(ProtectionError) -> R? {
  guard let file = try openRegular(name, in: directory, onlyReading, fileSystem) else { return nil }
  defer { fileSystem.close(file) }
  let usual = 8192
  // A directory and a FIFO can be opened, but not read.
  var bytes = try refusingOthers(name) { () throws(FileSystemError) in
    try fileSystem.readOnce(file, count: min(usual, limit + 1))
  }
  do throws(ProtectionError) {
    if bytes.count <= limit { return try parse(bytes) }
  } catch {
    let rest = try attempt("read \"\(name)\"") { () throws(FileSystemError) in
      try fileSystem.readBytes(file, count: limit + 1 - bytes.count, at: Int64(bytes.count))
    }
    guard !rest.isEmpty else { throw error }
    bytes += rest
  }
  guard bytes.count <= limit else { throw ProtectionError(.corrupt, "\"\(name)\" is longer than it can be.") }
  return try parse(bytes)
}

/// Replaces a file by a new one that is synced; its name is not durable yet.
///
/// If it throws, the old one is there.
func replaceFile(
  _ name: String, by newName: String, in directory: Descriptor, with bytes: [UInt8], _ fileSystem: any FileSystem
) throws(ProtectionError) {
  try attempt("write \"\(name)\"") { () throws(FileSystemError) in
    let file = try makeFile(newName, in: directory, fileSystem)
    defer { fileSystem.close(file) }
    do throws(FileSystemError) {
      try unsafe fileSystem.writeAll(file, bytes.span.bytes, at: 0)
      try fileSystem.synchronize(file)
      do throws(FileSystemError) {
        try fileSystem.rename(newName, to: name, in: directory, replacing: true)
      } catch  where error.code == .isDirectory {
        try clearName(name, in: directory, fileSystem)
        try fileSystem.rename(newName, to: name, in: directory, replacing: true)
      }
    } catch {
      try? uninterrupted { () throws(FileSystemError) in try fileSystem.unlink(newName, in: directory) }
      throw error
    }
  }
}

/// Frees a name: its file is removed, a directory of somebody else's goes on under another name.
func clearName(_ name: String, in directory: Descriptor, _ fileSystem: any FileSystem) throws(FileSystemError) {
  do throws(FileSystemError) {
    try fileSystem.unlink(name, in: directory)
  } catch  where error.code == .isDirectory {
    try fileSystem.rename(name, to: "\(name).aside-\(hexadecimal(randomBytes(8)))", in: directory, replacing: false)
  }
}
