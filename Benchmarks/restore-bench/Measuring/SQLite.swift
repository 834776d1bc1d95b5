import Foundation
import Glibc

/// SQLite as a peer for the disk metrics, loaded at run time: nobody needs it to build, and without it they are skipped.
@safe
final class SQLite {
  private typealias Open =
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
    ) -> Int32
  private typealias Close = @convention(c) (OpaquePointer?) -> Int32
  private typealias Execute =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?
    ) -> Int32
  private typealias Prepare =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>, OpaquePointer?
    ) -> Int32
  private typealias BindBlob =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeRawPointer?, Int32, OpaquePointer?
    ) -> Int32
  private typealias BindInteger = @convention(c) (OpaquePointer?, Int32, Int64) -> Int32
  private typealias OnStatement = @convention(c) (OpaquePointer?) -> Int32
  private typealias ColumnBlob = @convention(c) (OpaquePointer?, Int32) -> UnsafeRawPointer?
  private typealias ColumnCount = @convention(c) (OpaquePointer?, Int32) -> Int32

  private let open: Open
  private let close: Close
  private let execute: Execute
  private let prepare: Prepare
  private let bindBlob: BindBlob
  private let bindInteger: BindInteger
  private let step: OnStatement
  private let reset: OnStatement
  private let finalize: OnStatement
  private let columnBlob: ColumnBlob
  private let columnBytes: ColumnCount
  private var handle: OpaquePointer?

  /// Loads the library; nil when there is none.
  init?() {
    guard let library = unsafe dlopen("libsqlite3.so.0", RTLD_NOW) else { return nil }
    func symbol<T>(_ name: String, _ type: T.Type) -> T? {
      unsafe dlsym(library, name).map { unsafe unsafeBitCast($0, to: type) }
    }
    guard let open = unsafe symbol("sqlite3_open_v2", Open.self),
      let close = unsafe symbol("sqlite3_close", Close.self),
      let execute = unsafe symbol("sqlite3_exec", Execute.self),
      let prepare = unsafe symbol("sqlite3_prepare_v2", Prepare.self),
      let bindBlob = unsafe symbol("sqlite3_bind_blob", BindBlob.self),
      let bindInteger = unsafe symbol("sqlite3_bind_int64", BindInteger.self),
      let step = unsafe symbol("sqlite3_step", OnStatement.self),
      let reset = unsafe symbol("sqlite3_reset", OnStatement.self),
      let finalize = unsafe symbol("sqlite3_finalize", OnStatement.self),
      let columnBlob = unsafe symbol("sqlite3_column_blob", ColumnBlob.self),
      let columnBytes = unsafe symbol("sqlite3_column_bytes", ColumnCount.self)
    else { return nil }
    unsafe self.open = open
    unsafe self.close = close
    unsafe self.execute = execute
    unsafe self.prepare = prepare
    unsafe self.bindBlob = bindBlob
    unsafe self.bindInteger = bindInteger
    unsafe self.step = step
    unsafe self.reset = reset
    unsafe self.finalize = finalize
    unsafe self.columnBlob = columnBlob
    unsafe self.columnBytes = columnBytes
  }

  deinit { disconnect() }

  /// Opens a database in a write-ahead log with full syncs.
  func connect(_ path: String) {
    disconnect()
    _ = unsafe open(path, &handle, 0x6, nil)
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
  }

  /// Closes the database.
  func disconnect() {
    if unsafe handle != nil { _ = unsafe close(handle) }
    unsafe handle = nil
  }

  /// Runs statements without results.
  func run(_ statements: String) {
    _ = unsafe execute(handle, statements, nil, nil, nil)
  }

  /// Replaces rows in one transaction.
  func replace(_ rows: [(Int, Data)]) {
    run("BEGIN")
    var statement: OpaquePointer?
    _ = unsafe prepare(handle, "INSERT OR REPLACE INTO state VALUES (?, ?)", -1, &statement, nil)
    for (key, value) in rows {
      unsafe value.withUnsafeBytes { bytes in
        _ = unsafe bindInteger(statement, 1, Int64(key))
        _ = unsafe bindBlob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil)
        _ = unsafe step(statement)
      }
      _ = unsafe reset(statement)
    }
    _ = unsafe finalize(statement)
    run("COMMIT")
  }

  /// The values of all rows, in order.
  func values() -> [Data] {
    var statement: OpaquePointer?
    _ = unsafe prepare(handle, "SELECT value FROM state ORDER BY id", -1, &statement, nil)
    defer { _ = unsafe finalize(statement) }
    var values: [Data] = []
    while unsafe step(statement) == 100, let blob = unsafe columnBlob(statement, 0) {
      values.append(unsafe Data(bytes: blob, count: Int(columnBytes(statement, 0))))
    }
    return values
  }

  /// The value of a row.
  func value(_ key: Int) -> Data? {
    var statement: OpaquePointer?
    _ = unsafe prepare(handle, "SELECT value FROM state WHERE id = ?", -1, &statement, nil)
    defer { _ = unsafe finalize(statement) }
    _ = unsafe bindInteger(statement, 1, Int64(key))
    guard unsafe step(statement) == 100, let blob = unsafe columnBlob(statement, 0) else { return nil }
    return unsafe Data(bytes: blob, count: Int(columnBytes(statement, 0)))
  }
}
