import Testing
@testable import StateRestoration
@Suite struct ClaimantTests {}
