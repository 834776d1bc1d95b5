import DataProtection
import Testing

@Suite struct ProtectionErrorTests {
  @Test func `locked is EPERM and not found is ENOENT, and they never mix`() {
    #expect(ProtectionError(.locked, "").posixCode == 1)
    #expect(ProtectionError(.notFound, "").posixCode == 2)
    #expect(ProtectionError.Code.locked != .notFound)
    #expect(ProtectionError(.io, "", errno: 28).posixCode == 28)
  }

  @Test func `an error says its code, its message and the system's number`() {
    #expect(ProtectionError(.busy, "Wait.").description == "busy: Wait.")
    #expect(ProtectionError(.io, "Full.", errno: 28).description == "io: Full. (errno 28)")
  }

  @Test func `classes are ordered by what they promise`() {
    #expect(ProtectionClass.none.isWeaker(than: .completeUntilFirstUserAuthentication))
    #expect(ProtectionClass.completeUntilFirstUserAuthentication.isWeaker(than: .completeUnlessOpen))
    #expect(ProtectionClass.completeUnlessOpen.isWeaker(than: .complete))
    #expect(!ProtectionClass.complete.isWeaker(than: .complete))
    #expect(ProtectionClass.allCases.map(\.rawValue) == [1, 2, 3, 4])
  }
}
