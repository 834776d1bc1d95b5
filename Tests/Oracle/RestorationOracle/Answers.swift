/// What the rules leave open, and an engine answers always in the same way.
enum Question: UInt8, CaseIterable {
  /// Whether a page is saved that was put unedited into a place in which something is stored.
  case savesUneditedInFront
  /// Whether a page is saved that was put unedited below a blank one.
  case savesUneditedBelowBlank
  /// Whether a page is saved that was put unedited, while locked, below a page that nobody edited.
  case joinsUneditedBelowBlank
  /// Whether a page is saved that was put unedited, while locked, into a place in which something is stored for others.
  case joinsUneditedInFront
  /// Whether what was edited while locked below a state that is too new is joined below that, or below an empty one in front.
  case joinsBelowNewer
  /// Whether presenting a page on a locked device is an edit of it.
  case countsPresented
  /// Whether a page that names no model keeps that of its state when the page above it shows another model.
  case keepsModelsBelowAnother
}

/// What the engine has answered; nil for what nothing has shown yet.
struct Answers: Hashable {
  private var known: UInt8 = 0
  private var affirmed: UInt8 = 0

  subscript(question: Question) -> Bool? {
    get { known & 1 << question.rawValue == 0 ? nil : affirmed & 1 << question.rawValue != 0 }
    set {
      let bit: UInt8 = 1 << question.rawValue
      known = newValue == nil ? known & ~bit : known | bit
      affirmed = newValue == true ? affirmed | bit : affirmed & ~bit
    }
  }

  /// What comes out of something for every way to answer the questions that make a difference to it.
  func each<Result: Equatable>(_ body: (Inquiry) -> Result) -> [(result: Result, answers: Answers)] {
    let inquiry = Inquiry(self)
    let result = body(inquiry)
    guard let question = inquiry.open else { return [(result, self)] }
    let both = [false, true].map { answer in
      var answers = self
      answers[question] = answer
      return answers.each(body)
    }
    let isSame = both[0].elementsEqual(both[1]) { first, second in
      var answers = second.answers
      answers[question] = false
      return first.result == second.result && first.answers == answers
    }
    guard isSame else { return both[0] + both[1] }
    return both[0].map { result, answers in
      var answers = answers
      answers[question] = nil
      return (result, answers)
    }
  }
}

/// Answers, and the first question that was asked of them in vain.
final class Inquiry {
  private let answers: Answers
  private(set) var open: Question?

  init(_ answers: Answers) { self.answers = answers }

  func says(_ question: Question) -> Bool {
    if let answer = answers[question] { return answer }
    open = open ?? question
    return false
  }
}
