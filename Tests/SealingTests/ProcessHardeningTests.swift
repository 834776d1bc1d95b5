import CSystem
import Foundation
import Sealing
import Testing

struct ProcessHardeningTests {
  @Test func `hardening turns core dumps off and shuts the process to debuggers`() async {
    await #expect(processExitsWith: .success) {
      let outcome = ProcessHardening.apply()
      precondition(outcome.coreDumpsAreOff && outcome.isShieldedFromDebuggers)
      var limit = rlimit()
      precondition(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
      precondition(limit.rlim_cur == 0 && limit.rlim_max == 0)
      precondition(csystem_prctl(Int32(csystem_PR_GET_DUMPABLE), 0) == 0)
      precondition(ProcessHardening.apply() == outcome)
    }
  }
}
