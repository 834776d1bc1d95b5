internal import RestorationArchive

extension Table {
  /// The objects whose values are not those that the table has; nothing is written.
  ///
  /// Each values are found once: what a save can't store, because there is no room for it, say, asks for no other save.
  mutating func findChanged(_ batch: CaptureBatch) -> Set<CaptureBatch.Key> {
    var found: Set<CaptureBatch.Key> = []
    for record in batch.records {
      do throws(ArchiveError) {
        guard try differs(record, of: batch) else {
          if !foundValues.isEmpty { foundValues[record.key] = nil }
          continue
        }
        let values = try digests.digest(batch.comparedEntries(of: record))
        if foundValues.updateValue(values, forKey: record.key) != values { found.insert(record.key) }
      } catch {
        // The save that follows says why they can't be encoded, once.
        if foundValues.updateValue(nil, forKey: record.key) != .some(nil) { found.insert(record.key) }
      }
    }
    return found
  }

  private mutating func differs(
    _ record: CaptureBatch.Record, of batch: CaptureBatch
  ) throws(ArchiveError) -> Bool {
    guard let holding = holding(record.key), holding.isCaptured else { return false }
    if batch.attributes(of: record) != holding.attributes { return true }
    let entries = batch.entries(of: record)
    switch holding.baseline {
    case .unknown?: return record.key == CaptureBatch.application && !isLocked
    case .unencodable?:
      _ = try digests.digest(batch.comparedEntries(of: record))
      return true
    case .values(let values)?: return try digests.digest(batch.comparedEntries(of: record)) != values
    case nil: break
    }
    guard let own = holding.record, try writer.node(own) != nil else { return !entries.isEmpty }
    return try !writer.hasRecord(of: own, entries: entries)
  }
}
