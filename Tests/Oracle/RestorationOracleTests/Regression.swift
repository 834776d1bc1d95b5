import Testing

/// A script that an engine got wrong once.
struct Regression: Sendable, CustomTestStringConvertible {
  let name: String
  let script: String

  var testDescription: String { name }

  static let all: [Regression] = [
    Regression(
      name: "a controller that shows A, then B, then A again keeps the stored draft of A",
      script: """
        push root/a note model=A
        save
        edit root/a value=1
        save
        show root/a model=B value=2
        save
        show root/a model=A
        save
        kill
        launch
        """),
    Regression(
      name: "a tab that a save met before it was given its state is given it",
      script: """
        push root/a plain
        save
        edit root/a value=1
        save
        kill
        launch hiding=a
        push root/a plain
        save
        restoreLate root/a
        """),
    Regression(
      name: "a dialogue that an older program could not make comes back though a blank one was presented",
      script: """
        push root/a card presented=yes
        save
        edit root/a value=1
        save
        kill
        launch version=3 hiding=a
        edit root value=5
        save
        kill
        launch hiding=a
        push root/a card presented=yes
        save
        restoreLate root/a
        save
        kill
        launch
        """),
    Regression(
      name: "an object of another class without a tag is not given the state",
      script: """
        push root/a sketch
        edit root/a value=1
        save
        kill
        launch replacing=a:plain
        save
        kill
        launch
        """),
    Regression(
      name: "a page that its factory makes under another identifier is not used, and its state stays",
      script: """
        push root/a plain
        edit root/a value=1
        push root/a/b plain
        edit root/a/b value=2
        save
        kill
        launch misnaming=a
        edit root value=3
        save
        kill
        launch
        """),
    Regression(
      name: "siblings keep their order around one that was left out after a crash",
      script: """
        push root/a plain
        push root/b plain
        push root/c plain
        edit root/b value=1
        save
        crashInLaunch b decoding=yes
        launch
        edit root value=2
        save
        retry
        save
        kill
        launch
        """),
    Regression(
      name: "an entry that was made and filled in one turn while locked is saved",
      script: """
        push root/a diary
        save
        edit root/a value=1
        save
        kill
        lock
        launch
        push root/a diary value=2
        push root/b plain value=3
        save
        unlock
        save
        kill
        launch
        """),
    Regression(
      name: "an older program reads a document that a newer one only looked at",
      script: """
        push root/a note
        edit root value=1
        edit root/a value=2
        save
        kill
        launch version=3
        save
        push root/b plain
        save
        kill
        launch
        """),
    Regression(
      name: "edits of an older program lie beside the newer state",
      script: """
        launch version=2
        push root/a plain
        save
        edit root/a value=1
        save
        kill
        launch
        edit root/a value=2
        save
        kill
        launch
        edit root/a value=3
        save
        kill
        launch version=2
        """),
  ]
}
