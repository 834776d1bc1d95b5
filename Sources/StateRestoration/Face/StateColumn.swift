/// Copies of the one values of captured instances of a class, side by side.
///
/// A box for each value would be most of what a capture allocates; boxes are made where the main actor doesn't wait.
package protocol StateColumn: AnyObject, Sendable {
  /// The value in a row, as an entry of a record.
  func entry(at row: Int) -> RestorationArchive.Entry
}

/// The column of a class.
///
/// `@unchecked Sendable`: rows are only added on the main actor, by the one capture that made the column, which forgets
/// it when it hands it over; from then on it is only read, until its last owner frees it.
@safe final class ValueColumn<Owner: StatefulObject>: StateColumn, @unchecked Sendable {
  /// Rows that are allocated at once: few enough for a capture of one object, many enough for one of all.
  private static var rowsInChunk: Int { 64 }

  // Rows stay where they are: growing one list would copy all of them. Untyped, as the runtime would be asked for the
  // list's type at each use.
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  /// Where the next row goes; only meaningful while there is room.
  private var next: UnsafeMutableRawPointer?
  private var room = 0
  private var count = 0

  deinit {
    for index in unsafe chunks.indices {
      // All chunks but the last are full, as `append` fills one before it makes another.
      let filled = min(count - index * Self.rowsInChunk, Self.rowsInChunk)
      unsafe chunks[index].assumingMemoryBound(to: Owner.RestorableState.self).deinitialize(count: filled)
      unsafe chunks[index].deallocate()
    }
  }

  /// Copies an object's value into the next row, and returns the row.
  @MainActor func append(from owner: Owner) -> Int {
    // Read first: it is the program's code, and may do anything before there is a place for the value.
    let value = owner.restorableState
    if room == 0 { addChunk() }
    let row = count
    // There is room for one at least, and nothing was put there before.
    if let place = unsafe next {
      unsafe place.initializeMemory(as: Owner.RestorableState.self, to: consume value)
      unsafe next = place + MemoryLayout<Owner.RestorableState>.stride
    }
    room -= 1
    count = row + 1
    return row
  }

  private func addChunk() {
    let chunk = UnsafeMutableRawPointer.allocate(
      byteCount: Self.rowsInChunk * MemoryLayout<Owner.RestorableState>.stride,
      alignment: MemoryLayout<Owner.RestorableState>.alignment)
    unsafe chunks.append(chunk)
    unsafe next = chunk
    room = Self.rowsInChunk
  }

  func entry(at row: Int) -> RestorationArchive.Entry {
    precondition(row >= 0 && row < count, "A row that no value was copied to.")
    // In bounds and initialised, as `append` counts a row once its value is there.
    let chunk = unsafe chunks[row / Self.rowsInChunk].assumingMemoryBound(to: Owner.RestorableState.self)
    return unsafe RestorationArchive.Entry(key: ReservedKey.state, value: chunk[row % Self.rowsInChunk])
  }
}
