import Sealing

extension KeyRing {
  private static let kept: [ProtectionClass] = [
    .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication,
  ]

  /// Gives the keys to whoever keeps them beyond this process.
  func giveKeys(to custody: any ClassKeyCustody) {
    for protection in Self.kept {
      let entry = CustodyEntry(keybagIdentifier, protection)
      slot(protection).withActiveIfAvailable { held in
        // A key that can't be read here any more (after a fork) can't be given away either.
        try? held.key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
          custody.keep(bytes, for: entry)
        }
      }
    }
  }

  /// Takes back what an earlier process left; returns whether the device is unlocked by it.
  ///
  /// A key that isn't the one the keybag names is passed over.
  func takeKeys(from custody: any ClassKeyCustody) -> Bool {
    var taken: Set<ProtectionClass> = []
    for protection in Self.kept {
      custody.lend(CustodyEntry(keybagIdentifier, protection)) { bytes in
        guard let held = Self.key(bytes, protection) else { return }
        if slot(protection).installIfNamed(held) { taken.insert(protection) }
      }
    }
    return taken.count == Self.kept.count
  }

  private static func key(_ bytes: Span<UInt8>, _ protection: ProtectionClass) -> HeldKey? {
    do throws(SealingError) {
      return try HeldKey(SecretKey(copying: bytes), for: protection)
    } catch {
      return nil
    }
  }
}
