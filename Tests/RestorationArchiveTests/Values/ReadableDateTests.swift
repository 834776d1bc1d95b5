import FoundationEssentials
import RestorationArchive
import Testing

/// Moments in words.
struct ReadableDateTests {
  @Test(
    arguments: [
      (0, "2001-01-01 00:00:00 +0000"), (-63_113_904_001, "-63113904001.0 s since 2001"), (.nan, "nan s since 2001"),
      (.infinity, "inf s since 2001"), (-.greatestFiniteMagnitude, "-1.7976931348623157e+308 s since 2001"),
      (0x1p60, "1.152921504606847e+18 s since 2001"),
    ] as [(Double, String)])
  func `a moment that no calendar has is told in seconds`(seconds: Double, text: String) {
    #expect(Date(timeIntervalSinceReferenceDate: seconds).readable() == text)
  }
}
