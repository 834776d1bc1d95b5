extension ArchiveStore {
  /// The numbers of the newest generation, the one before and what is pending; opens none, works while locked.
  package func generations() throws(ProtectionError) -> [Generation] {
    try looking { reading throws(ProtectionError) in
      guard let ledger = reading.ledger.value else { return [] }
      let records = [ledger.current, ledger.predecessor].compactMap(\.self) + ledger.pending
      return records.map { Generation(rawValue: $0.generation) }
    }
  }
}
