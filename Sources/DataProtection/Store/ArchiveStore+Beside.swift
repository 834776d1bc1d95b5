extension ArchiveStore {
  /// Another slot of the same application and scene.
  package func beside(_ name: String, protection: ProtectionClass) -> ArchiveStore {
    ArchiveStore(
      store, slot: ArchiveSlot(application: slot.application, scene: slot.scene, slot: name), protection: protection)
  }

  /// Which of several slots of this device hold generations, by one look at the names; opens nothing.
  ///
  /// - Parameter stores: Slots made by ``beside(_:protection:)``.
  /// - Returns: The positions of those that do.
  package func occupied(among stores: [ArchiveStore]) throws(ProtectionError) -> [Int] {
    var slots: [SlotName] = []
    for other in stores { slots.append(SlotName(identity: try store.identity(of: other.slot))) }
    return try withLock { _, session throws(ProtectionError) in
      let present = Set(
        try session.names().compactMap { name -> SlotName? in
          if case .generation(let slot, _, _) = name { slot } else { nil }
        })
      return slots.indices.filter { present.contains(slots[$0]) }
    }
  }
}
