/// What the rules leave open, and an engine answers always in the same way; nil as long as nothing has shown it.
struct Answers: Hashable {
  /// Whether a page is saved that was put unedited into a place in which something is stored.
  var savesUneditedInFront: Bool?
  /// Whether a page is saved that was put unedited below a blank one.
  var savesUneditedBelowBlank: Bool?
  /// Whether a page is saved that was put unedited, while locked, below a page that nobody edited.
  var joinsUneditedBelowBlank: Bool?
  /// Whether a page is saved that was put unedited, while locked, into a place in which something is stored for others.
  var joinsUneditedInFront: Bool?
  /// Whether what was edited while locked below a state that is too new is joined below that, or below an empty one in front.
  var joinsBelowNewer: Bool?
  /// Whether presenting a page on a locked device is an edit of it.
  var countsPresented: Bool?

  private static var questions: [WritableKeyPath<Answers, Bool?>] {
    [
      \.savesUneditedInFront, \.savesUneditedBelowBlank, \.joinsUneditedBelowBlank, \.joinsUneditedInFront,
      \.joinsBelowNewer, \.countsPresented,
    ]
  }

  /// All that an engine may answer, for some of the questions.
  private func answered(_ questions: [WritableKeyPath<Answers, Bool?>]) -> [Answers] {
    questions.reduce([self]) { all, question in
      all.flatMap { answers in
        (answers[keyPath: question].map { [$0] } ?? [true, false]).map { answer in
          var answers = answers
          answers[keyPath: question] = answer
          return answers
        }
      }
    }
  }

  /// What comes out of something for every way to answer the questions that make a difference to it.
  func each<Result: Hashable>(_ body: (Answers) -> Result) -> [(result: Result, answers: Answers)] {
    let all = answered(Self.questions)
    let results = Dictionary(uniqueKeysWithValues: all.map { ($0, body($0)) })
    guard let first = results[all[0]], results.values.contains(where: { $0 != first }) else {
      return [(body(all[0]), self)]
    }
    let relevant = Self.questions.filter { question in
      all.contains { answers in
        var other = answers
        other[keyPath: question] = !(answers[keyPath: question] ?? false)
        return results[other].map { $0 != results[answers] } ?? false
      }
    }
    return answered(relevant).map { answers in (results[answers.answered(Self.questions)[0]] ?? first, answers) }
  }
}
