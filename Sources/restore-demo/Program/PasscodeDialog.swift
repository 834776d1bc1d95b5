/// A dialog that asks for the passcodes that a change needs, one after another.
///
/// Never preserved.
struct PasscodeDialog {
  /// What the passcodes are for.
  enum Purpose { case set, change, remove }

  let purpose: Purpose
  private(set) var answers: [String] = []
  var prompt: PasscodePrompt
  /// Whether the change is being made, which takes about a second.
  var isWorking = false

  init(_ purpose: Purpose) {
    self.purpose = purpose
    prompt = PasscodePrompt(title: Self.questions(for: purpose)[0])
  }

  /// The keys it knows.
  var hints: [Hint] { [Hint("⏎", "go on"), Hint("Esc", "cancel")] }

  private static func questions(for purpose: Purpose) -> [String] {
    switch purpose {
    case .set: ["New passcode", "Once more"]
    case .change: ["Present passcode", "New passcode", "Once more"]
    case .remove: ["Present passcode"]
    }
  }

  /// What an answer leads to.
  enum Step { case more, done, refused }

  /// Takes the text as the answer to the present question.
  mutating func answer() -> Step {
    let text = prompt.text
    guard !text.isEmpty else {
      prompt.message = "A passcode has at least one character."
      return .refused
    }
    answers.append(text)
    let questions = Self.questions(for: purpose)
    if answers.count < questions.count {
      prompt = PasscodePrompt(title: questions[answers.count])
      return .more
    }
    if purpose != .remove, answers[answers.count - 1] != answers[answers.count - 2] {
      answers.removeLast(2)
      prompt = PasscodePrompt(title: questions[answers.count])
      prompt.message = "The two differ. Type the new one again."
      return .refused
    }
    return .done
  }
}
