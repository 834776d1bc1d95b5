import CTestProcess
package import Testing

extension Tag {
  /// Suites in which threads meet: `.ci/sanitize thread` builds and runs these, and no others.
  @Tag package static var threads: Self
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test out of `.ci/sanitize address`.
  ///
  /// - Parameter reason: The sanitizer changes what the test looks at, or the test runs the same code thousands of times.
  package static func notUnderAddressSanitizer(_ reason: Comment) -> Self {
    .disabled(if: test_process_is_address_sanitized(), reason)
  }
}
