import Testing

/// A script that an engine got wrong once.
struct Regression: Sendable, CustomTestStringConvertible {
  let name: String
  let script: String

  var testDescription: String { name }

  static let all: [Regression] = [
    Regression(
      name: "a full disk is no failure of the first save, while nothing is edited",
      script: "failingSave fault=1 call=0"),
    Regression(
      name: "an object that shows another model while locked is given what lies without one",
      script: """
        save
        edit root value=15
        save
        cutPower losing=18446744073709551615
        launch model=A
        show root model=B
        unlock
        """),
    Regression(
      name: "joined values are written by the version that joined them",
      script: """
        launch version=3
        push root/a diary
        save
        launch
        edit root/a value=7
        save
        launch version=3
        save
        launch
        """),
    Regression(
      name: "a page that a later locked run does not present is not presented after the unlock",
      script: """
        lock
        push root/e plain model=A presented=yes
        save
        launch
        push root/e plain model=A
        unlock
        """),
    Regression(
      name: "a row that is left keeps its class, so that an older program's page has it",
      script: """
        push root/c plain
        push root/c/b sketch
        save
        launch version=3
        show root/c/b model=B
        edit root/c/b value=4
        save
        launch
        """),
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
    Regression(
      name: "a page that was saved while locked is made below what its parent shows then",
      script: """
        save
        lock
        launch model=A
        edit root value=2
        killInSave call=33
        push root/b plain
        save
        unlock
        launch
        """),
    Regression(
      name: "a save says no more that a page can't be encoded once it can",
      script: """
        editUnencodable root value=2
        restoreAgain
        edit root value=3
        save
        """),
    Regression(
      name: "below a page that was left out after a crash a late one is given nothing",
      script: """
        push root/e note value=1
        rename root/e b
        restoreAgain
        killInLaunch call=26
        push root/b special
        restoreLate root/b
        """),
    Regression(
      name: "pages that were saved while locked keep the order that they had then",
      script: """
        push root/c plain
        save
        lock
        launch
        push root/d plain
        push root/c plain
        save
        unlock
        """),
    Regression(
      name: "a page that shows another model keeps its place among its siblings",
      script: """
        push root/b plain
        save
        show root/b model=B value=7
        push root/d plain
        save
        show root/b
        save
        launch
        """),
    Regression(
      name: "a page that has the name of another one keeps its row, and what is below it",
      script: """
        push root/e plain
        push root/b plain
        save
        push root/b/b plain value=1
        rename root/b e
        save
        launch
        """),
    Regression(
      name: "a page that is moved to where another one has its name keeps its stored state",
      script: """
        push root/a plain value=1
        push root/b plain
        push root/b/a plain value=2
        save
        move root/a root/b
        save
        launch
        """),
    Regression(
      name: "what a closed page has taken along is not there to forget",
      script: """
        push root/a note value=1
        save
        launch hiding=a
        push root/a note
        restoreLate root/a
        close root/a
        forget root/a
        """),
    Regression(
      name: "a page that names its first model with an edit has that edit at the next launch, also if it was locked",
      script: """
        save
        lock
        launch
        show root model=A
        edit root value=4
        save
        unlock
        launch
        """),
    Regression(
      name: "what was typed below a page that names its first model is given",
      script: """
        push root/e plain
        save
        show root model=B value=1
        edit root/e value=9
        save
        launch
        edit root value=11
        restoreAgain
        """),
    Regression(
      name: "a page that could not be given its state and names its first model with an edit leaves its row as it was",
      script: """
        editRefused root value=1
        push root/b plain
        save
        launch strict=yes
        show root model=A value=11
        save
        launch
        """),
    Regression(
      name: "while locked a turn ends with a look",
      script: """
        save
        kill
        lock
        show root model=A
        restoreAgain
        show root value=11
        unlock
        """),
    Regression(
      name: "a page with the name of another one is named by the path that it has now",
      script: """
        push root/b plain
        push root/b/c plain
        push root/b/c/d plain
        push root/b/c/d/c plain
        push root/b/c/d/c/d plain
        save
        rename root/b/c/d b
        push root/b/c/b/c/d plain
        save
        """),
    Regression(
      name: "the first model of edited values leaves a migrated record as it was",
      script: """
        edit root value=2
        save
        launch version=2
        show root model=A value=5
        save
        launch version=2
        save
        launch
        """),
    Regression(
      name: "a page that was saved while locked and at which restoring dies is left out",
      script: """
        save
        lock
        launch
        push root/b plain
        save
        unlock
        crashInLaunch b
        launch
        """),
    Regression(
      name: "merging what was saved while locked changes no class",
      script: """
        save
        cutPower losing=18446744073709551615
        push root/b plain
        push root/b/d sketch
        save
        unlock
        launch version=2
        save
        launch
        """),
    Regression(
      name: "what lies below a row that its object left stays there",
      script: """
        push root/d plain
        save
        launch hiding=d
        show root model=B value=8
        save
        launch
        """),
    Regression(
      name: "a retry names the newer version, and not the crash",
      script: """
        launch version=2
        push root/c plain
        save
        crashInLaunch c
        retry
        """),
    Regression(
      name: "a page that names its model again with an edit is there at the next launch",
      script: """
        push root/a plain model=A
        save
        show root/a
        save
        show root/a model=A value=3
        save
        launch
        """),
    Regression(
      name: "pages without a model below one become one with those of a model, parents first",
      script: """
        push root/c plain
        push root/c/b plain
        save
        cutPower losing=18446744073709551615
        push root/c plain model=A
        edit root/c value=9
        show root model=B value=15
        unlock
        save
        launch
        """),
    Regression(
      name: "a page that shows another model keeps its place before one that was not made",
      script: """
        push root/d plain
        push root/c plain
        save
        launch replacing=c:card
        show root/d model=B
        edit root/d value=11
        restoreAgain
        """),
    Regression(
      name: "a page that was merely opened where restoring died hides nothing from a retry",
      script: """
        push root/a plain value=1
        save
        edit root/a value=2
        save
        crashInLaunch a decoding=yes
        launch
        push root/a plain
        save
        retry
        save
        launch
        """),
    Regression(
      name: "a page that moved and a sibling that shows another model are saved together",
      script: """
        push root/d plain
        push root/d/c plain
        push root/d/b plain model=B
        push root/d/d plain
        save
        move root/d/c root
        show root/d/b
        edit root/d/d value=8
        save
        launch
        """),
    Regression(
      name: "of two rows of one place the order of siblings is that of the locked run",
      script: """
        save
        push root/d plain model=B
        killInSave call=20
        cutPower losing=18446744073709551615
        push root/a plain
        push root/d plain
        unlock
        """),
    Regression(
      name: "all rows of a place stand together among the siblings",
      script: """
        push root/b plain
        push root/e diary
        save
        push root/e plain
        reverse root
        restoreAgain
        show root/e model=B value=10
        save
        launch
        """),
    Regression(
      name: "rows unite once all pages have their places",
      script: """
        save
        push root/a plain
        push root/a/a plain
        push root/e plain
        killInSave call=14
        launch hiding=a
        push root/e/b plain
        rename root/e a
        save
        launch
        """),
    Regression(
      name: "a retry opens the rows for which it makes objects",
      script: """
        save
        kill
        push root/a plain
        push root/a/b plain
        push root/b plain
        save
        killInLaunch call=26
        retry
        save
        launch
        """),
    Regression(
      name: "a row that a later locked run wrote in is present",
      script: """
        save
        cutPower losing=18446744073709551615
        edit root value=3
        show root model=B value=4
        save
        launch
        edit root value=5
        save
        unlock
        launch
        """),
    Regression(
      name: "in merging the version of the locked run does not matter",
      script: """
        save
        show root model=B value=4
        killInSave call=34
        lock
        launch version=3
        edit root value=5
        killInSave call=25
        push root/a plain
        save
        launch version=3
        unlock
        """),
    Regression(
      name: "a locked run makes nothing look younger that it did not have",
      script: """
        push root/d special
        save
        wait 330
        cutPower losing=18446744073709551615
        wait 456
        edit root value=8
        unlock
        """),
    Regression(
      name: "what an object wrote while locked is not too old",
      script: """
        push root/e special
        save
        cutPower losing=18446744073709551615
        push root/e special
        push root/d plain
        wait 607
        unlock
        """),
    Regression(
      name: "a page keeps its role when a sibling takes its name",
      script: """
        push root/e plain presented=yes
        push root/b plain
        save
        reverse root
        rename root/b e
        save
        launch
        """),
    Regression(
      name: "what was below a page that shows another model stays with that",
      script: """
        show root model=A
        push root/d plain
        save
        show root model=B
        close root/d
        save
        launch model=A
        """),
    Regression(
      name: "an absent row of a locked run takes no row of another key",
      script: """
        push root/b plain
        save
        cutPower losing=18446744073709551615
        launch model=A
        push root/e plain
        show root
        unlock
        """),
    Regression(
      name: "what a failed save could not write is written by the next one",
      script: """
        edit root value=6
        failingSave fault=0 call=0
        editUnencodable root value=7
        save
        launch
        """),
    Regression(
      name: "a page that names its first model with values that can't be encoded leaves its row as it was",
      script: """
        save
        show root model=A
        editUnencodable root value=4
        save
        show root
        edit root value=6
        save
        launch
        """),
    Regression(
      name: "a page whose row has no record writes nothing before it is edited",
      script: """
        push root/c plain
        push root/c/b sketch
        editUnencodable root/c/b value=6
        killInSave call=26
        lock
        launch version=3
        unlock
        save
        launch
        """),
    Regression(
      name: "what was below a page below one that shows another model stays with that",
      script: """
        launch model=A
        push root/c plain
        push root/c/e plain
        save
        show root model=B
        close root/c/e
        killInSave call=30
        launch model=A
        """),
    Regression(
      name: "pages below one that shows another model wait as they were, whatever they show themselves",
      script: """
        show root model=A
        push root/c plain
        push root/c/b plain model=A
        save
        show root model=B
        show root/c/b model=B
        save
        launch model=A
        """),
    Regression(
      name: "a page that names its first model with an edit keeps the order of what is below it",
      script: """
        push root/e plain
        push root/d plain
        rename root/e a
        save
        show root model=A value=9
        show root/a model=A value=10
        restoreAgain
        """),
    Regression(
      name: "of two pages with one name the one that had it keeps it when those above show a first model",
      script: """
        push root/e plain
        push root/e/e plain
        save
        push root/e/d plain value=4
        rename root/e/d e
        reverse root/e
        show root/e model=A value=7
        save
        launch
        """),
    Regression(
      name: "a page that was left out and shows another model has a row of its own",
      script: """
        save
        launch model=A
        save
        push root/a plain
        killInSave call=7
        killInLaunch call=22
        show root model=B
        save
        """),
    Regression(
      name: "of what was typed while locked the newest is given, whatever model was shown in between",
      script: """
        save
        cutPower losing=18446744073709551615
        edit root value=4
        show root model=A
        show root
        show root model=A
        edit root value=6
        save
        unlock
        launch
        """),
    Regression(
      name: "a late page that was left out has a record of its own",
      script: """
        push root/a plain
        save
        crashInLaunch a
        push root/a plain
        restoreLate root/a
        save
        launch
        """),
    Regression(
      name: "what a page has after values that could not be encoded is an edit",
      script: """
        launch model=A
        editUnencodable root value=2
        save
        edit root value=3
        killInSave call=12
        lock
        launch version=3
        edit root value=8
        unlock
        save
        launch
        """),
    Regression(
      name: "a row without a record takes in no other row",
      script: """
        cutPowerInSave call=26 losing=16
        launch model=A
        push root/b plain
        show root model=B
        save
        launch model=A
        unlock
        save
        launch
        """),
    Regression(
      name: "a page of a row that becomes one with another is no blank of this turn",
      script: """
        push root/a plain
        save
        launch model=A
        show root/a model=A
        show root
        save
        edit root value=6
        edit root/a value=7
        killInSave call=22
        launch model=A
        rename root/a b
        killInSave call=25
        launch
        """),
    Regression(
      name: "a page that moves away from one that shows another model brings its row",
      script: """
        push root/d plain
        rename root/d a
        show root model=A
        save
        push root/c plain
        show root
        move root/a root/c
        killInSave call=29
        launch model=A
        """),
    Regression(
      name: "what is merged gives the row the class that wrote it",
      script: """
        save
        push root/c sketch
        cutPowerInSave call=16 losing=18446744073709551615
        launch version=3
        push root/c sketch
        edit root/c value=7
        unlock
        save
        launch
        """),
    Regression(
      name: "below a row that was given up nothing is found for late pages",
      script: """
        push root/a sketch
        save
        close root/a
        damage
        edit root value=7
        show root model=B
        save
        push root/a sketch value=8
        restoreLate root/a
        """),
    Regression(
      name: "what lay below a blank row is found at the next launch",
      script: """
        push root/d plain value=2
        save
        cutPower losing=18446744073709551615
        show root model=B value=3
        save
        unlock
        launch
        push root/d plain
        restoreLate root/d
        """),
    Regression(
      name: "a place that stood in front stays there when its page is renamed",
      script: """
        push root/b plain model=B
        save
        launch hiding=b
        push root/b plain
        save
        rename root/b c
        restoreAgain
        """),
    Regression(
      name: "a late page that nothing fits is not asked again",
      script: """
        push root/c plain model=A
        save
        launch hiding=c
        push root/e plain
        push root/c plain model=B
        restoreLate root/c
        edit root/e value=7
        restoreLate root/c
        rename root/e c
        killInSave call=39
        launch
        """),
  ]
}
