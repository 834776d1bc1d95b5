/// The keys and shapes of an archive in memory of their own, which stays where it is: for those who decode many records.
///
/// Lending arrays as memory takes a closure for each of them, and a record asks for four, time after time.
@safe
package final class PinnedTables: @unchecked Sendable {
  // Sendable: the memory is written before anybody else sees it, and never again.

  /// What the tables hold.
  let view: TableView
  /// A number that only these tables have.
  let identity = DecodePool.makeIdentity()

  /// Copies tables.
  init(_ content: TableContent) {
    unsafe view = TableView(
      keyText: Self.copy(content.keyText), keyEnds: Self.copy(content.keyEnds), fields: Self.copy(content.fields),
      shapeEnds: Self.copy(content.shapeEnds), keyCount: content.keyCount, shapeCount: content.shapeCount)
  }

  deinit {
    unsafe view.keyText?.deallocate()
    unsafe view.keyEnds?.deallocate()
    unsafe view.fields?.deallocate()
    unsafe view.shapeEnds?.deallocate()
  }

  private static func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = unsafe memory.initialize(fromContentsOf: elements)
    return unsafe UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
  }
}
