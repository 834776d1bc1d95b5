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
    Regression(
      name: "two pages with one name below one whose parent shows another model",
      script: """
        push root/e special model=A presented=yes
        push root/e/b plain
        show root model=A value=2
        save
        show root model=B
        push root/e/b plain model=A value=3
        save
        """),
    Regression(
      name: "records of one save, of rows that become one, keep an order",
      script: """
        push root/e plain
        save
        push root/d plain model=B
        edit root/e value=4
        killInSave call=16
        launch misnaming=e
        rename root/d e
        restoreAgain
        killInSave call=24
        launch
        """),
    Regression(
      name: "what a look has seen is older than what the save after it finds",
      script: """
        forget root/c
        show root model=B value=2
        forget root/e
        show root
        save
        launch
        """),
    Regression(
      name: "a late page that has its state already is followed by a look all the same",
      script: """
        push root/c plain
        push root/b plain
        save
        launch hiding=c
        edit root value=7
        rename root/b c
        restoreLate root/c
        editUnencodable root value=10
        save
        launch
        """),
    Regression(
      name: "a row that is live again counts as a change of the next save",
      script: """
        push root/e plain
        push root/e/c plain
        save
        push root/e/c/e special
        killInSave call=6
        lock
        unlock
        launch hiding=e
        show root
        wait 578
        restoreLate root
        push root/a plain
        edit root value=8
        push root/a/e plain
        save
        kill
        killInLaunch call=35
        crashInLaunch b decoding=yes
        damage
        unlock
        launch
        restoreLate root/e
        push root/e/d plain
        close root/e/d
        killInSave call=21
        damage
        unlock
        crashInLaunch a
        """),
    Regression(
      name: "a death at the launch of another version is where the engine says",
      script: """
        killInSave call=22
        cutPower losing=18446744073709551615
        edit root value=4
        killInSave call=38
        launch version=3
        push root/c plain
        edit root value=6
        unlock
        push root/d plain
        killInSave call=12
        killInLaunch call=31
        launch version=3
        push root/c plain
        save
        launch
        """),
    Regression(
      name: "a duplicate is named below the name under which its parent is stored",
      script: """
        push root/c plain
        push root/a plain
        push root/c/d plain
        push root/c/b plain
        save
        rename root/c a
        rename root/a/b d
        save
        """),
    Regression(
      name: "a death is put down to the record that restoring was at",
      script: """
        launch model=A
        save
        cutPower losing=18446744073709551615
        launch model=A
        edit root value=6
        killInSave call=18
        unlock
        killInLaunch call=23
        launch version=2
        edit root value=8
        save
        launch
        """),
    Regression(
      name: "a page that was presented while locked stays presented at the unlock",
      script: """
        push root/c plain
        save
        rename root/c d
        edit root/d value=4
        save
        kill
        lock
        push root/a plain model=A presented=yes
        save
        rename root/a d
        unlock
        """),
    Regression(
      name: "of two pages with one name the unlock gives to the one that has the row",
      script: """
        cutPowerInSave call=40 losing=18446744073709551615
        push root/b plain value=4
        push root/b plain
        reverse root
        unlock
        """),
    Regression(
      name: "what a locked run has written last is the newest",
      script: """
        save
        cutPower losing=18446744073709551615
        edit root value=5
        show root model=B value=6
        show root
        show root model=B
        unlock
        """),
    Regression(
      name: "a page that keeps its former name while locked gives way to the one that has the name",
      script: """
        lock
        save
        launch
        push root/b sketch
        push root/c sketch value=4
        rename root/b c
        unlock
        """),
    Regression(
      name: "what waits below a row that is given up is not taken by the page that stays",
      script: """
        push root/a plain
        save
        rename root/a d
        show root/d model=A value=5
        save
        show root/d
        show root model=B value=12
        save
        launch
        """),
    Regression(
      name: "a late page that was closed and opened anew is followed by a look",
      script: """
        push root/c plain
        save
        launch
        close root/c
        push root/c plain
        restoreLate root/c
        editUnencodable root/c value=2
        restoreAgain
        """),
    Regression(
      name: "below a row that comes along at an unlock pages are made at the next launch",
      script: """
        push root/e plain
        save
        cutPower losing=18446744073709551615
        launch model=A
        edit root value=8
        save
        launch
        show root model=B
        show root
        unlock
        """),
    Regression(
      name: "a death that nobody saw, beside an edit of a later run",
      script: """
        show root model=A
        push root/c plain
        save
        killInLaunch call=24
        edit root value=5
        save
        killInLaunch call=21
        launch version=2
        show root model=A value=8
        save
        killInLaunch call=55
        """),
    Regression(
      name: "a death that nobody saw, in a save that was cut off",
      script: """
        launch version=3
        save
        push root/e plain
        killInSave call=18
        launch version=2
        push root/d plain
        save
        edit root value=5
        killInSave call=6
        killInLaunch call=31
        push root/c plain
        save
        launch
        """),
    Regression(
      name: "a late page from which a page was closed keeps what it has",
      script: """
        push root/e sketch
        save
        launch hiding=e
        push root/e sketch value=6
        push root/e/e plain
        save
        close root/e/e
        restoreLate root/e
        """),
    Regression(
      name: "of rows that become one the present one stays present, also below others",
      script: """
        push root/b plain model=A
        save
        launch model=A
        show root
        save
        show root/b
        forget root/d
        close root/b
        show root model=A
        killInSave call=28
        killInLaunch call=45
        """),
    Regression(
      name: "joined values of which some can't be encoded",
      script: """
        cutPowerInSave call=28 losing=18446744073709551615
        push root/d diary model=B
        rename root/d b
        show root/b model=A
        show root/b model=B
        editUnencodable root/b value=7
        unlock
        save
        """),
    Regression(
      name: "an unlock before a save says as much of what was on the screen as one after it",
      script: """
        save
        edit root value=6
        save
        show root model=A value=7
        lock
        killInSave call=14
        show root model=B
        show root
        unlock
        """),
    Regression(
      name: "a late page whose row was given before is given nothing",
      script: """
        push root/b plain
        push root/b/b plain
        push root/c plain
        rename root/b e
        save
        launch hiding=b
        close root/e
        forget root/c/e
        push root/e plain
        restoreLate root/e
        """),
    Regression(
      name: "a row that a late turn has added was live last",
      script: """
        push root/b plain
        killInSave call=37
        killInLaunch call=23
        launch model=A
        push root/b note
        restoreLate root/b
        show root
        save
        launch model=A
        """),
    Regression(
      name: "a diary that keeps its row takes the blank one in",
      script: """
        push root/b diary value=1
        save
        cutPower losing=18446744073709551615
        push root/b diary model=A
        edit root/b value=2
        unlock
        save
        launch
        """),
    Regression(
      name: "values that two blank diaries joined are blank",
      script: """
        push root/a diary
        save
        show root/a model=B value=3
        save
        lock
        launch
        push root/a diary
        unlock
        killInSave call=36
        launch
        """),
    Regression(
      name: "a late page takes the place of one that has left in the same turn",
      script: """
        launch version=2
        push root/a diary
        push root/a/d plain
        save
        launch
        close root/a
        push root/a diary
        restoreLate root/a
        """),
    Regression(
      name: "a late page for whose name another one has the row",
      script: """
        save
        push root/c plain
        push root/b plain
        killInSave call=8
        rename root/c b
        push root/c plain
        restoreLate root/c
        save
        """),
    Regression(
      name: "a record that was given stays as old as it is where rows become one",
      script: """
        save
        edit root value=5
        push root/e diary value=6
        killInSave call=23
        launch replacing=e:note model=A
        push root/e diary value=11
        show root
        show root/e model=A
        save
        launch model=A
        save
        launch
        """),
    Regression(
      name: "pages that keep their names come along as their parent names its first model",
      script: """
        push root/a plain
        push root/d plain
        save
        rename root/d a
        show root model=B value=8
        save
        launch
        """),
    Regression(
      name: "rows below those that become one become one, the present one stays",
      script: """
        push root/a plain model=B
        rename root/a d
        push root/d/d plain model=A
        save
        show root/d
        save
        rename root/d/d e
        show root/d/e
        show root/d model=B
        killInSave call=11
        launch
        """),
    Regression(
      name: "a page of a subclass that comes late leaves the row its class",
      script: """
        push root/b note
        save
        lock
        launch
        push root/b plain
        save
        unlock
        killInLaunch call=29
        push root/b special
        restoreLate root/b
        save
        launch
        """),
    Regression(
      name: "a record that was given stays the first one",
      script: """
        save
        edit root value=2
        push root/a plain
        save
        launch model=A
        show root/a model=A value=4
        show root
        save
        launch model=A
        save
        launch
        """),
    Regression(
      name: "of two rows that become one, that which was live last says whether it is closed",
      script: """
        push root/a plain
        save
        edit root value=3
        save
        launch model=A
        show root
        save
        crashInLaunch a decoding=yes
        launch misnaming=a model=A
        save
        launch
        """),
    Regression(
      name: "a page of a subclass that an unlock gives a record leaves the row its class",
      script: """
        push root/e note
        save
        edit root/e value=8
        killInSave call=27
        cutPower losing=18446744073709551615
        push root/e special
        unlock
        save
        launch
        """),
    Regression(
      name: "a locked run of which nothing is left adds no row",
      script: """
        edit root value=1
        show root model=B
        cutPowerInSave call=40 losing=18446744073709551615
        launch model=A
        push root/b plain
        close root/b
        save
        unlock
        launch
        """),
    Regression(
      name: "a death is marked on the disk by the unlock",
      script: """
        push root/c plain
        save
        crashInLaunch c decoding=yes
        lock
        save
        unlock
        launch
        """),
    Regression(
      name: "a part that was sealed one-way is of the class that its state has",
      script: """
        configure none
        push root/a plain protection=complete
        lock
        save
        launch
        """),
    Regression(
      name: "siblings in two parts that have one key become one row at the unlock",
      script: """
        configure first
        push root/e plain protection=complete
        save
        lock
        launch
        push root/e plain
        unlock
        """),
    Regression(
      name: "the order of readable pages is written in their own part alone",
      script: """
        configure none
        lock
        save
        launch
        push root/e plain
        push root/e/a plain
        push root/e/d plain
        save
        unlock
        """),
    Regression(
      name: "nothing is written beside for a page that was closed before a save",
      script: """
        configure none
        push root/b plain
        save
        kill
        lock
        push root/b/c plain protection=complete
        close root/b/c
        save
        launch
        """),
    Regression(
      name: "a page whose class gets stronger while locked keeps its place among its siblings",
      script: """
        configure none
        push root/a plain
        push root/c plain
        save
        lock
        launch
        protect root/a complete
        unlock
        """),
    Regression(
      name: "a page that was closed since does not come back as the sibling of one that waited",
      script: """
        configure first
        save
        lock
        launch
        push root/d plain
        push root/e plain protection=complete
        save
        launch
        close root/d
        unlock
        """),
    Regression(
      name: "a page that was closed since does not come back with what waited below it",
      script: """
        configure none
        lock
        push root/b plain
        save
        launch
        push root/b/d plain protection=complete
        save
        launch
        close root/b
        unlock
        """),
    Regression(
      name: "a page that inherits its class goes along, whichever of the two is written first",
      script: """
        configure none
        push root/e plain protection=first
        push root/e/c plain
        save
        protect root/e/c none
        launch
        protect root/e/c parent
        protect root/e complete
        edit root/e/c value=5
        save
        """),
    Regression(
      name: "a page that inherits its class anew goes where its parent goes in the same save",
      script: """
        configure first
        push root/d plain protection=none
        push root/d/a plain value=2 protection=complete
        save
        protect root/d first
        protect root/d/a parent
        save
        """),
    Regression(
      name: "a migrated page that keeps its state at the unlock changes no record",
      script: """
        configure first
        push root/c plain value=1
        push root/c/a plain protection=complete
        save
        lock
        launch version=3
        unlock
        save
        launch
        """),
    Regression(
      name: "a page whose record does not decode is no edit at the unlock",
      script: """
        configure none
        editRefused root value=2
        save
        lock
        launch strict=yes
        push root/b plain
        push root/b/e plain protection=complete
        unlock
        save
        launch
        """),
    Regression(
      name: "a row that a page gives up as it names a model stays in its part",
      script: """
        configure none
        push root/c plain protection=complete
        save
        show root/c model=B value=1
        protect root/c none
        killInSave call=29
        lock
        launch
        """),
    Regression(
      name: "a first save that was cut short does not stop a save of a locked run",
      script: """
        configure none
        push root/e plain
        push root/e/a plain protection=complete
        cutPowerInSave call=21 losing=2
        save
        """),
    Regression(
      name: "two siblings with one identifier stay as they are at an unlock for which nothing waits",
      script: """
        configure first
        push root/a plain
        save
        lock
        launch
        push root/a plain
        unlock
        """),
    Regression(
      name: "a page that was given a row is asked for no other, whatever it shows later",
      script: """
        push root/d note model=B
        push root/c note model=A
        save
        launch version=2
        push root/c/d sketch
        save
        killInLaunch call=39
        show root/d model=A
        rename root/d c
        restoreLate root/c
        killInSave call=26
        killInLaunch call=53
        """),
    Regression(
      name: "late pages are found below a row that their parent gave up with its first model",
      script: """
        push root/b plain
        rename root/b d
        push root/d/c diary
        move root/d/c root
        edit root/c value=7
        push root/b plain
        save
        close root/c
        launch
        push root/b/d plain
        show root model=B value=10
        restoreLate root/b/d
        push root/c diary
        restoreLate root/c
        """),
    Regression(
      name: "late pages are given nothing below a page that has shown another model since",
      script: """
        show root model=A
        push root/c diary value=3
        save
        launch model=A hiding=c
        show root model=B
        save
        show root model=A
        save
        push root/c diary
        restoreLate root/c
        """),
    Regression(
      name: "a locked run that has written no record says nothing",
      script: """
        save
        edit root value=1
        save
        lock
        launch
        show root model=B
        edit root value=8
        killInSave call=33
        launch model=A
        push root/a plain
        close root/a
        save
        unlock
        launch
        """),
    Regression(
      name: "of two rows of one class that become one, the death at the later one counts",
      script: """
        launch version=2
        push root/c sketch model=A
        rename root/c d
        killInSave call=28
        push root/d sketch model=A
        save
        crashInLaunch d decoding=yes
        launch version=2
        """),
    Regression(
      name: "a late page that takes the place of another one in one turn has a row of its own",
      script: """
        push root/a plain
        rename root/a d
        push root/e plain
        save
        launch hiding=e
        close root/d
        push root/d plain
        restoreLate root/d
        restoreAgain
        """),
    Regression(
      name: "late pages are found below a page that was edited while locked",
      script: """
        push root/a diary
        edit root/a value=5
        save
        lock
        launch hiding=a
        edit root value=3
        save
        unlock
        push root/a diary
        restoreLate root/a
        """),
    Regression(
      name: "an entry whose row becomes one with another is joined at the next launch",
      script: """
        push root/e diary
        save
        edit root/e value=4
        push root/a plain
        save
        move root/e root/a
        launch
        push root/e diary model=B value=12
        save
        launch
        save
        launch
        """),
    Regression(
      name: "what nobody has read stays when the page closes that its row became one with",
      script: """
        push root/a plain
        edit root/a value=1
        push root/b plain
        edit root/b value=2
        save
        launch hiding=b
        rename root/a b
        save
        close root/b
        save
        launch
        push root/b plain
        restoreLate root/b
        """),
    Regression(
      name: "a row below a page that has left in the same turn is not there to be forgotten",
      script: """
        push root/a sketch model=B
        push root/a/b plain
        restoreAgain
        close root/a
        push root/a sketch model=B
        restoreLate root/a
        rename root/a d
        forget root/d/b
        """),
    Regression(
      name: "a late page that was met before comes into the closed row that it fits",
      script: """
        push root/d plain
        push root/c note
        save
        crashInLaunch c
        push root/d/a plain
        push root/c note model=A
        forget root/d/a/e
        restoreLate root/c
        show root/c
        save
        launch
        """),
    Regression(
      name: "a page that takes the name of one that was renamed in the same save comes behind the others",
      script: """
        push root/a plain
        push root/b plain
        save
        launch hiding=b
        rename root/a e
        push root/a plain
        save
        launch
        """),
    Regression(
      name: "what lay below a page that has left does not come back below a late one of its name",
      script: """
        push root/a plain
        show root/a model=A
        push root/a/a plain
        restoreAgain
        close root/a
        push root/a plain model=A
        restoreLate root/a
        save
        launch
        """),
    Regression(
      name: "a closed row with an older record hides no page that is opened beside it",
      script: """
        push root/a note
        save
        edit root/a value=1
        save
        lock
        launch
        push root/a note
        edit root/a value=2
        save
        unlock
        save
        crashInLaunch a decoding=yes
        launch
        push root/a note model=A
        edit root/a value=3
        save
        launch
        """),
    Regression(
      name: "a row that an unlock has made live is written as such",
      script: """
        launch model=A
        save
        edit root value=2
        save
        cutPower losing=18446744073709551615
        edit root value=4
        unlock
        lock
        save
        launch model=A
        unlock
        save
        launch
        """),
    Regression(
      name: "a row that is given is as open as it was, whatever becomes one with that above it",
      script: """
        save
        edit root value=2
        killInSave call=12
        launch model=A
        push root/a plain
        restoreLate root/a
        show root
        killInSave call=25
        crashInLaunch a decoding=yes
        launch model=A
        save
        launch
        """),
    Regression(
      name: "what can't be read counts as live in the saves of a locked run",
      script: """
        configure none
        push root/c special protection=first
        save
        cutPower losing=18446744073709551615
        launch
        wait 715
        unlock
        """),
    Regression(
      name: "a row that is given up below a page whose class gets weaker stays in its part",
      script: """
        configure none
        push root/b plain
        cutPowerInSave call=29 losing=18446744073709551615
        protect root/b complete
        push root/b/e plain
        edit root/b/e value=4
        unlock
        show root/b/e model=A value=5
        protect root/b parent
        save
        """),
    Regression(
      name: "what was written beside stands behind the nearest sibling that is left",
      script: """
        configure none
        push root/c plain
        save
        kill
        lock
        push root/b plain
        push root/e plain protection=complete
        save
        launch
        close root/b
        unlock
        """),
    Regression(
      name: "an item that a weaker row had as well is no secret",
      script: """
        configure first
        push root/a plain model=B value=4 protection=complete
        save
        protect root/a parent
        show root/a
        save
        close root/a
        save
        """),
    Regression(
      name: "a row that was left before a locked run saved was live after what is stored",
      script: """
        push root/c diary
        save
        lock
        launch version=2
        show root model=A value=3
        push root/c diary
        toggle A
        show root/c model=A value=6
        save
        unlock
        crashInLaunch c
        launch version=2
        save
        launch
        """),
    Regression(
      name: "a late page that took the name of a row since it was met is given that row",
      script: """
        push root/e plain
        save
        launch replacing=e:sketch
        push root/c plain value=7
        restoreLate root/c
        rename root/c e
        forget root/e/e
        restoreLate root/e
        """),
    Regression(
      name: "what a late page was given of a row that had become one with its own is there at the next launch",
      script: """
        push root/e plain value=3
        save
        launch replacing=e:sketch
        push root/c plain value=7
        restoreLate root/c
        rename root/c e
        save
        restoreLate root/e
        save
        launch
        """),
    Regression(
      name: "a page that was made while locked stands where the row is that the unlock finds for it",
      script: """
        push root/d diary
        save
        edit root value=5
        push root/c plain
        cutPowerInSave call=35 losing=18446744073709551615
        launch model=A
        show root model=B
        push root/d diary
        unlock
        """),
    Regression(
      name: "an entry that was made while locked joins what lies below the row that the unlock finds for its parent",
      script: """
        save
        push root/d diary value=3
        edit root value=5
        save
        lock
        launch model=A
        show root model=B
        push root/d diary value=9
        save
        unlock
        save
        launch
        """),
    Regression(
      name: "a page that was edited while locked brings its row where nothing is found for it",
      script: """
        save
        edit root value=5
        save
        lock
        launch model=A
        show root model=B
        push root/d plain
        edit root/d value=9
        save
        unlock
        save
        edit root/d value=10
        save
        close root/d
        save
        launch
        push root/d plain
        restoreLate root/d
        """),
    Regression(
      name: "a page shows its model in the place that it has at the save",
      script: """
        save
        push root/a plain model=B
        killInSave call=8
        launch misnaming=a
        push root/a plain
        save
        rename root/a d
        rename root/d c
        show root/c model=A
        save
        launch
        """),
    Regression(
      name: "a death in what is merged in memory alone counts for a version that merges it otherwise",
      script: """
        launch version=2
        push root/c sketch
        rename root/c d
        cutPowerInSave call=40 losing=18446744073709551615
        push root/d sketch
        push root/d/c plain
        save
        unlock
        crashInLaunch c decoding=yes
        launch version=2
        """),
    Regression(
      name: "what was written beside was live in every later save of its run",
      script: """
        configure none
        save
        cutPower losing=18446744073709551615
        push root/b special protection=complete
        save
        wait 649
        unlock
        launch
        """),
    Regression(
      name: "a page that takes the place of one that has left stands where that stood",
      script: """
        push root/e diary
        push root/a plain
        save
        push root/e/c plain
        push root/e/c/d plain
        save
        launch misnaming=d hiding=a
        close root/e
        push root/e diary
        save
        launch
        """),
    Regression(
      name: "a page that shows another model stands where the row stood that has gone",
      script: """
        push root/e plain
        editUnencodable root/e value=1
        show root/e model=B
        push root/a plain
        rename root/e d
        save
        launch hiding=a
        show root/d model=A
        save
        launch
        """),
    Regression(
      name: "a page that takes the name of one that is not there keeps its place among the others",
      script: """
        push root/e plain
        push root/a plain
        push root/c plain
        save
        launch version=2 hiding=e
        rename root/c e
        save
        launch
        """),
    Regression(
      name: "a row becomes one with another though what lies below it can't be read",
      script: """
        configure none
        show root model=A
        push root/e plain protection=complete
        save
        show root
        save
        lock
        launch
        edit root value=5
        show root model=A
        save
        launch
        """),
    Regression(
      name: "a late page is not kept from its row by one that has given up its name in the same turn",
      script: """
        save
        push root/e note
        cutPowerInSave call=14 losing=18446744073709551615
        show root model=A value=2
        unlock
        push root/e plain
        save
        launch
        rename root/e a
        push root/e note value=5
        restoreLate root/e
        """),
    Regression(
      name: "a page that has its state takes in no row of a stronger class at the unlock",
      script: """
        configure first
        push root/e plain value=2 protection=complete
        save
        lock
        launch
        push root/e plain model=A
        edit root/e value=7
        unlock
        save
        """),
    Regression(
      name: "a page closed below one that comes anew stays whole with what lies below it",
      script: """
        push root/e plain value=1
        push root/e/a plain value=2
        push root/e/a/c plain value=3
        show root model=A
        save
        show root model=B
        close root/e/a
        save
        launch model=A
        """),
    Regression(
      name: "a late page stands where it stood though its row is another's",
      script: """
        save
        launch version=2
        push root/c plain
        killInSave call=20
        close root/c
        push root/e plain
        push root/b plain
        restoreLate root/b
        rename root/b c
        restoreLate root/c
        save
        launch
        """),
    Regression(
      name: "a late page of another version is met as it is where its row has no record",
      script: """
        push root/e note
        push root/e/b card
        save
        launch version=3
        close root/e
        killInSave call=21
        launch version=3
        push root/e special
        restoreLate root/e
        save
        launch
        """),
    Regression(
      name: "a page that took the place of one that waited for the unlock was live later",
      script: """
        configure none
        lock
        push root/e special protection=complete
        save
        edit root/e value=3
        save
        launch
        push root/e plain
        unlock
        launch hiding=e
        save
        launch
        """),
    Regression(
      name: "nothing is acknowledged that a run left in memory before the disk could not be written",
      script: """
        save
        push root/d plain
        save
        edit root value=3
        killInSave call=4
        failingSave fault=0 call=0
        cutPower losing=18446744073709551615
        unlock
        crashInLaunch c
        """),
    Regression(
      name: "a page that has no place keeps nobody waiting for the unlock",
      script: """
        configure none
        push root/e plain
        push root/e/a plain
        push root/e/a/b plain
        cutPowerInSave call=24 losing=32
        push root/e/a/b plain protection=first
        unlock
        """),
    Regression(
      name: "a page keeps its row when it moves below one that has no place",
      script: """
        push root/e plain
        push root/a plain value=4
        save
        push root/e/c plain
        push root/e/c plain
        move root/a root/e/c
        reverse root/e
        save
        launch
        """),
    Regression(
      name: "an edit that another late page's coming has noticed is kept",
      script: """
        save
        push root/a plain
        killInSave call=14
        launch hiding=a
        push root/a plain
        save
        edit root/a value=3
        push root/d plain
        restoreLate root/d
        restoreLate root/a
        """),
    Regression(
      name: "a row whose page could not read it and has left is no late page's without a model",
      script: """
        push root/a special
        save
        show root/a model=A value=4
        save
        launch version=3
        edit root/a value=7
        killInSave call=33
        close root/a
        push root/a special value=8
        restoreLate root/a
        """),
    Regression(
      name: "a row of another model than a page has shown in its place is no late page's without a model",
      script: """
        push root/b plain model=A
        save
        lock
        launch
        push root/b plain model=B
        unlock
        close root/b
        push root/b plain value=9
        restoreLate root/b
        """),
    Regression(
      name: "a row of another model is absent beside a page, also where the row above has become one with another",
      script: """
        push root/d plain model=B
        show root model=A
        save
        show root
        save
        show root/d model=A
        show root model=A
        save
        close root/d
        save
        launch
        """),
    Regression(
      name: "so is one that comes beside a page which nobody has changed",
      script: """
        push root/d plain model=B
        show root model=A
        save
        show root
        save
        show root/d model=A
        save
        show root model=A
        save
        close root/d
        save
        launch
        """),
    Regression(
      name: "a page that was closed before its parent's row became one with another leaves nothing there",
      script: """
        push root/d plain
        show root model=B
        push root/b plain
        lock
        save
        launch
        push root/b plain presented=yes
        edit root value=11
        unlock
        show root model=B
        close root/b
        save
        launch
        """),
    Regression(
      name: "a place that another page has after a look stands where it stood",
      script: """
        push root/e plain
        push root/c plain
        save
        launch hiding=e
        push root/e diary
        restoreLate root/e
        move root/c root/e
        rename root/e c
        save
        launch
        """),
    Regression(
      name: "what a page has written in this run is no late page's",
      script: """
        push root/c plain
        push root/b plain
        push root/b/c plain model=A
        restoreAgain
        edit root/b/c value=8
        forget root/c/d
        show root/b/c model=B
        move root/b/c root/c
        push root/b/c plain model=A
        save
        restoreLate root/b/c
        """),
    Regression(
      name: "a page above one that was left out names its model, and late pages below it are given nothing",
      script: """
        push root/e plain
        killInSave call=28
        killInLaunch call=36
        show root model=A
        edit root value=9
        save
        push root/e plain value=11
        restoreLate root/e
        """),
    Regression(
      name: "a row takes the model of a page whose values can't be encoded",
      script: """
        push root/b plain
        save
        cutPower losing=18446744073709551615
        show root model=A
        editUnencodable root value=2
        unlock
        save
        crashInLaunch b decoding=yes
        launch
        """),
    Regression(
      name: "what lay below a row that has become one with another is found at the next launch",
      script: """
        show root model=A
        push root/c diary
        save
        show root
        edit root/c value=6
        save
        lock
        launch replacing=c:sketch model=A
        edit root value=8
        unlock
        push root/c diary
        restoreLate root/c
        """),
    Regression(
      name: "what lies below a page that names its first model takes that one's class of protection",
      script: """
        configure none
        push root/a plain
        push root/a/d plain value=3
        save
        show root/a model=B value=5
        protect root/a complete
        save
        """),
    Regression(
      name: "so does a page that comes below it in the same look",
      script: """
        configure none
        push root/a plain
        push root/d plain value=3
        save
        move root/d root/a
        show root/a model=B value=5
        protect root/a complete
        save
        """),
    Regression(
      name: "of two pages of one name the one that has the row gets it at the unlock, also where nothing was edited",
      script: """
        configure none
        push root/b plain presented=yes value=7
        push root/d plain protection=complete
        save
        cutPower losing=18446744073709551615
        rename root/b e
        push root/e plain value=9
        reverse root
        unlock
        """),
    Regression(
      name: "a record that a page with values beyond encoding had goes along into a class without a key",
      script: """
        configure none
        push root/a plain
        save
        cutPower losing=18446744073709551615
        editUnencodable root/a value=5
        protect root/a first
        save
        launch
        """),
    Regression(
      name: "a page that is met anew below another model lies where its class says",
      script: """
        configure first
        save
        kill
        lock
        push root/e plain
        protect root/e complete
        show root model=B
        protect root/e parent
        show root
        save
        launch
        """),
    Regression(
      name: "a place stands where the first of its rows stands",
      script: """
        show root model=B
        push root/c plain
        save
        launch hiding=c
        show root model=A
        save
        push root/b plain
        show root
        save
        edit root/b value=9
        push root/d plain
        show root/b model=A
        show root model=B
        save
        launch
        """),
    Regression(
      name: "a page that got its state late leaves it where it was when the page above shows another model",
      script: """
        show root model=A
        push root/b plain value=5
        save
        launch model=A hiding=b
        show root
        push root/b plain
        restoreLate root/b
        save
        launch model=A
        """),
    Regression(
      name: "so does one that was left out after a crash",
      script: """
        push root/b sketch
        save
        crashInLaunch b
        launch model=A
        show root
        push root/b sketch
        restoreLate root/b
        save
        launch model=A
        """),
    Regression(
      name: "nothing is made below a row that was left out, also for a late page that keeps what it has",
      script: """
        push root/b plain
        push root/b/b plain
        save
        crashInLaunch b
        push root/b plain model=B
        save
        show root/b
        restoreLate root/b
        """),
    Regression(
      name: "a record that goes along into a class without a key stays as it is",
      script: """
        configure none
        push root/c plain value=1
        save
        cutPower losing=18446744073709551615
        launch version=2
        protect root/c first
        unlock
        launch
        """),
    Regression(
      name: "a page with values beyond encoding is not made from what was written beside",
      script: """
        configure none
        save
        kill
        lock
        push root/c plain protection=complete
        editUnencodable root/c value=12
        rename root/c a
        push root/b plain
        show root/a model=B
        killInSave call=32
        launch
        unlock
        """),
    Regression(
      name: "a page without a place that shows another model leaves its row",
      script: """
        push root/b plain
        push root/b/b plain model=B
        save
        show root/b/b
        move root/b/b root
        save
        launch
        """),
    Regression(
      name: "of two pages that name models in one look each gets its row before rows become one",
      script: """
        save
        launch
        show root model=B
        push root/e note
        push root/c plain
        restoreLate root/c
        toggle A
        show root
        save
        show root/e model=A
        show root model=B
        restoreAgain
        """),
    Regression(
      name: "a page for which a locked launch has found nothing came by itself",
      script: """
        show root model=B
        save
        cutPower losing=18446744073709551615
        launch model=A
        unlock
        show root value=9
        killInSave call=36
        launch model=A
        """),
    Regression(
      name: "a place that a renamed page has left stands where that page stands",
      script: """
        push root/d plain
        push root/d/d plain
        push root/d/b plain
        save
        launch hiding=b
        rename root/d/d a
        push root/d/d plain
        save
        launch
        """),
    Regression(
      name: "what waits below a row that is given up is nobody's, also where a page below gives its own up",
      script: """
        push root/b plain model=B
        edit root/b value=6
        save
        show root/b
        save
        launch version=3
        show root model=A value=13
        show root/b model=B value=14
        save
        launch
        """),
    Regression(
      name: "a page that has a row that it could not read keeps it under another name",
      script: """
        launch version=3
        push root/b special model=B
        push root/b/a plain
        save
        launch
        rename root/b d
        push root/b special model=B
        restoreLate root/b
        """),
    Regression(
      name: "a late page is given nothing below one that shows another model since",
      script: """
        push root/c note
        save
        launch hiding=c
        show root model=A value=1
        save
        show root model=B
        push root/c special
        restoreLate root/c
        save
        launch
        """),
    Regression(
      name: "a page whose own class has a row of another class that does not decode takes its row along",
      script: """
        lock
        push root/d note
        save
        editRefused root/d value=6
        save
        launch strict=yes
        push root/d special
        unlock
        close root/d
        save
        launch
        """),
    Regression(
      name: "a row without an object does not become one with the row of a page below another model",
      script: """
        launch version=3
        push root/d diary value=3
        cutPowerInSave call=36 losing=18446744073709551615
        unlock
        close root/d
        show root model=B value=7
        push root/d diary
        killInSave call=36
        launch version=3
        """),
    Regression(
      name: "of two rows that become one the role is that of the later one",
      script: """
        push root/e plain
        save
        edit root value=2
        save
        lock
        launch version=3 model=A
        edit root value=6
        push root/e plain presented=yes
        save
        launch hiding=e model=A
        unlock
        save
        launch
        """),
    Regression(
      name: "a page below one that moved away from where another model is shown, and that is closed, is gone",
      script: """
        show root model=A
        push root/b plain
        push root/b/e plain
        push root/b/e/b plain
        save
        move root/b/e root
        show root model=B
        close root/e/b
        save
        launch
        """),
    Regression(
      name: "a renamed page that asks for its row keeps what it has",
      script: """
        push root/a plain
        rename root/a b
        edit root/b value=3
        save
        launch misnaming=b
        push root/c plain
        restoreLate root/c
        rename root/c b
        restoreLate root/b
        """),
    Regression(
      name: "a page that is called otherwise since it was met, and asks, supersedes what lies under its name",
      script: """
        push root/c special
        save
        launch hiding=c
        push root/e special value=7
        save
        rename root/e c
        restoreLate root/c
        """),
    Regression(
      name: "a page that is called otherwise since it was met is given what lies below its name's row",
      script: """
        push root/c sketch
        push root/c/b plain
        killInSave call=31
        launch hiding=c
        push root/d sketch
        save
        rename root/d c
        restoreLate root/c
        """),
    Regression(
      name: "what lies below a row without a model goes by the model that its page names",
      script: """
        show root model=B
        push root/b diary
        save
        show root
        push root/b diary model=B
        push root/b/a plain
        killInSave call=19
        lock
        show root model=B value=10
        unlock
        save
        launch
        """),
    Regression(
      name: "values that can't be encoded do not change the class of a row",
      script: """
        push root/e note
        save
        cutPower losing=18446744073709551615
        push root/e special
        editUnencodable root/e value=11
        show root/e model=B
        unlock
        save
        launch
        """),
    Regression(
      name: "a late page is given a row that a retry has asked for once more",
      script: """
        push root/c sketch value=2
        save
        close root/c
        crashInLaunch c
        retry
        push root/c sketch
        restoreLate root/c
        """),
    Regression(
      name: "what lies below a row that becomes one with another ages from its own last save",
      script: """
        killInSave call=28
        lock
        push root/e plain
        wait 707
        push root/e/a special
        killInSave call=36
        show root model=B value=4
        unlock
        killInSave call=13
        save
        """),
    Regression(
      name: "keys change all at once: a page that gets a name and a model in one look is in no other row in between",
      script: """
        push root/c note presented=yes
        rename root/c a
        save
        lock
        launch
        push root/b note
        show root model=A value=5
        unlock
        rename root/b c
        show root/c model=B
        rename root/c a
        save
        close root/a
        launch
        """),
    Regression(
      name: "a page of another class in the place of a row that is left out is no reason not to say so",
      script: """
        push root/c note
        push root/c/b plain
        killInSave call=35
        crashInLaunch b decoding=yes
        edit root/c value=5
        cutPowerInSave call=22 losing=18446744073709551615
        push root/c special
        push root/c/b sketch
        unlock
        """),
    Regression(
      name: "a page that moved below one that is closed has left its own place",
      script: """
        launch version=3
        save
        push root/a plain
        push root/e plain
        push root/e/d plain
        killInSave call=17
        move root/a root/e/d
        close root/e
        push root/e plain
        restoreLate root/e
        killInSave call=31
        launch
        """),
    Regression(
      name: "a class that answers with the page that is there gives it the row",
      script: """
        push root/d note
        save
        launch hiding=d
        push root/d special
        restoreLate root/d
        restoreAgain
        rename root/d b
        restoreAgain
        """),
    Regression(
      name: "a value of a model that is not shown any more is something to lose",
      script: """
        show root model=B
        failingSave fault=2 call=23
        edit root value=2
        forget root/d
        show root
        failingSave fault=1 call=9
        """),
    Regression(
      name: "a page of another class below a row of another model finds a row that is left out",
      script: """
        save
        push root/c plain
        killInSave call=23
        crashInLaunch c decoding=yes
        edit root value=3
        cutPowerInSave call=37 losing=18446744073709551615
        launch model=A
        show root model=B
        push root/c sketch
        unlock
        """),
    Regression(
      name: "a page whose row is left out stands in its place",
      script: """
        push root/a plain
        push root/d plain
        push root/a/d plain
        push root/c plain
        save
        launch
        killInLaunch call=28
        edit root value=4
        save
        cutPower losing=18446744073709551615
        launch model=A
        show root model=B
        push root/d plain
        unlock
        """),
    Regression(
      name: "a late page of a subclass that has named a model",
      script: """
        push root/b plain
        push root/b/e note
        save
        show root/b/e model=A value=3
        save
        kill
        rename root/b/e c
        push root/b/e special
        restoreLate root/b/e
        restoreAgain
        save
        launch
        """),
    Regression(
      name: "late pages for which nothing is stored stand as they stand",
      script: """
        launch version=3
        push root/d sketch
        save
        launch
        push root/d plain
        push root/d/b plain
        push root/d/b plain
        push root/d/a plain
        restoreLate root/d/a
        restoreLate root/d
        """),
    Regression(
      name: "a page that names no model any more, and has no place, leaves no row behind",
      script: """
        push root/b plain
        push root/a plain model=A
        push root/b/a plain
        killInSave call=26
        show root/a
        move root/a root/b
        save
        launch
        """),
    Regression(
      name: "what lies below a row that was left out stays where nothing could be written there",
      script: """
        push root/b plain
        push root/b/c plain
        save
        launch
        push root/a plain
        save
        killInLaunch call=41
        cutPowerInSave call=1 losing=18446744073709551615
        editUnencodable root value=7
        unlock
        """),
    Regression(
      name: "a *first* record goes when a record of its model's place is given that had none",
      script: """
        push root/d card
        save
        launch version=2
        edit root/d value=4
        save
        lock
        launch
        push root/d card model=B value=7
        save
        launch version=2
        unlock
        save
        launch
        """),
    Regression(
      name: "nothing waits where a page that came beside has been closed",
      script: """
        configure none
        save
        cutPower losing=18446744073709551615
        push root/e plain
        protect root/e complete
        close root/e
        killInSave call=30
        launch
        """),
    Regression(
      name: "a page goes on with the model that it has learnt where its class has no key",
      script: """
        configure none
        push root/a plain model=A
        save
        push root/a/e plain protection=complete
        killInSave call=36
        lock
        launch unnamed=yes
        protect root/a complete
        killInSave call=16
        launch
        unlock
        """),
    Regression(
      name: "what could not be read below a row that has become one with another follows at the unlock",
      script: """
        configure none
        save
        edit root value=9
        save
        launch model=A
        show root
        push root/d plain protection=complete
        cutPowerInSave call=38 losing=18446744073709551615
        launch model=A
        unlock
        """),
    Regression(
      name: "a page that can join, and has nothing of its own, changes no record of another class",
      script: """
        configure none
        save
        push root/a diary value=7 protection=complete
        cutPowerInSave call=30 losing=18446744073709551615
        launch version=3
        push root/a diary
        save
        launch version=2
        unlock
        save
        launch
        """),
    Regression(
      name: "a page whose model is gone is not left out for another row of its place",
      script: """
        push root/b plain
        save
        crashInLaunch b
        toggle B
        push root/b special model=B
        restoreAgain
        """),
    Regression(
      name: "a page below one that shows another model while its class has no key",
      script: """
        configure none
        show root model=B
        killInSave call=32
        lock
        push root/d plain protection=complete
        show root model=A
        rename root/d b
        show root
        unlock
        """),
    Regression(
      name: "a page below a model that it has learnt, closed while its class has no key",
      script: """
        configure none
        show root model=B
        save
        lock
        launch
        push root/d plain protection=complete
        show root model=A
        close root/d
        save
        launch
        """),
    Regression(
      name: "a secret page stands behind the one that has a class without a key since",
      script: """
        configure none
        push root/b plain
        push root/b/e plain
        save
        protect root/b/e complete
        lock
        launch
        push root/b/a plain protection=complete
        unlock
        """),
    Regression(
      name: "a row that is only there for the order says nothing of the role",
      script: """
        configure first
        push root/b sketch model=A presented=yes
        save
        launch hiding=b
        push root/b sketch protection=complete
        save
        lock
        launch
        unlock
        """),
    Regression(
      name: "a save of a page that came beside and was closed",
      script: """
        configure none
        push root/e plain
        killInSave call=32
        lock
        protect root/e complete
        close root/e
        save
        launch
        """),
    Regression(
      name: "a page of another class in the place of one that came beside",
      script: """
        configure first
        push root/b plain model=A value=1
        save
        lock
        launch unnamed=yes
        protect root/b complete
        save
        launch
        push root/b plain
        protect root/b complete
        unlock
        """),
    Regression(
      name: "a page below one that came beside keeps its row",
      script: """
        configure none
        killInSave call=17
        cutPowerInSave call=22 losing=147568029554759860
        push root/c plain model=B
        push root/c/c plain protection=first
        save
        launch unnamed=yes
        protect root/c first
        unlock
        """),
    Regression(
      name: "what lies below a model that is shown again follows at the unlock",
      script: """
        configure first
        save
        launch model=A
        edit root value=3
        save
        show root
        push root/a plain protection=complete
        killInSave call=37
        lock
        launch model=A
        unlock
        """),
    Regression(
      name: "a record goes along with a page that came beside, also where its row was a way, and it can't be encoded",
      script: """
        configure none
        save
        kill
        lock
        push root/b plain
        push root/a plain protection=complete
        close root/a
        push root/c plain
        editUnencodable root/b value=4
        protect root/b complete
        unlock
        """),
    Regression(
      name: "of two rows of one place the one that a locked run could read was live last",
      script: """
        configure first
        push root/b plain
        save
        cutPower losing=18446744073709551615
        push root/b note protection=complete
        unlock
        save
        lock
        rename root/b c
        launch
        unlock
        launch
        """),
    Regression(
      name: "rows of one place in two parts stand together",
      script: """
        configure first
        push root/a plain
        push root/d plain
        protect root/a complete
        lock
        save
        launch hiding=d
        push root/a diary
        save
        launch replacing=a:note
        unlock
        launch
        """),
    Regression(
      name: "a way that leads to nothing tells of no order",
      script: """
        configure none
        push root/c plain
        push root/d plain protection=complete
        cutPowerInSave call=37 losing=18446744073709551615
        push root/c/e plain
        push root/a plain protection=complete
        save
        launch
        protect root/c complete
        unlock
        """),
    Regression(
      name: "a class whose next row is made under another identifier",
      script: """
        push root/c plain
        save
        kill
        lock
        push root/c note model=B
        save
        close root/c
        toggle B
        unlock
        launch misnaming=c
        """),
    Regression(
      name: "a page that shows another model lies where its class says",
      script: """
        configure none
        cutPowerInSave call=36 losing=18446744073709551615
        push root/e plain model=A protection=complete
        protect root/e none
        show root/e model=B
        unlock
        lock
        launch
        """),
    Regression(
      name: "a closed secret below a page that came beside is not made again",
      script: """
        configure none
        push root/e plain model=B
        toggle B
        push root/e/e plain protection=first
        cutPowerInSave call=35 losing=18446744073709551615
        protect root/e complete
        unlock
        """),
    Regression(
      name: "a page that came beside has another model than the one that it has learnt",
      script: """
        configure first
        push root/c plain model=B value=5
        save
        lock
        launch version=2 unnamed=yes
        protect root/c complete
        show root/c model=A
        unlock
        launch
        """),
    Regression(
      name: "a page that a way led to, and another one in its place, tell of the order",
      script: """
        configure none
        push root/d card
        cutPowerInSave call=31 losing=18446744073709551615
        push root/d/b plain
        push root/e plain protection=first
        save
        launch
        close root/d
        push root/e plain
        rename root/e d
        unlock
        """),
    Regression(
      name: "what a page left below its former row comes to the row that it has",
      script: """
        configure first
        push root/d plain
        push root/d/c plain protection=complete
        save
        lock
        launch
        rename root/d c
        protect root/c complete
        show root model=A value=9
        unlock
        """),
    Regression(
      name: "a page stands behind one that has a class without a key, and nothing to write",
      script: """
        configure none
        push root/e plain
        push root/b plain
        save
        push root/b plain protection=complete
        protect root/e first
        cutPower losing=18446744073709551615
        push root/b/d plain
        unlock
        """),
    Regression(
      name: "a page of another class below one that shows another model at an unlock",
      script: """
        configure none
        launch version=3
        push root/e plain
        save
        cutPower losing=18446744073709551615
        protect root/e first
        show root model=B value=6
        save
        launch
        unlock
        """),
    Regression(
      name: "two pages of two classes stand as they stood",
      script: """
        configure none
        launch version=3
        push root/b plain
        push root/d plain
        lock
        save
        launch hiding=b
        protect root/d complete
        save
        launch
        unlock
        """),
    Regression(
      name: "a record that came beside stays in its version at the unlock",
      script: """
        configure none
        push root/b plain
        push root/e plain
        forget root/e/c
        edit root/b value=5
        save
        cutPower losing=18446744073709551615
        launch version=3
        protect root/b first
        unlock
        save
        launch
        """),
    Regression(
      name: "two secrets below one page stand as they stood",
      script: """
        configure none
        launch version=3
        push root/e plain
        push root/e/a plain
        save
        kill
        lock
        protect root/e/a complete
        push root/e/b plain protection=complete
        unlock
        """),
    Regression(
      name: "a page that could be read keeps the role that it has",
      script: """
        configure none
        push root/a note presented=yes
        push root/a/c plain
        save
        protect root/a complete
        lock
        launch
        edit root/a/c value=7
        save
        launch
        close root/a
        push root/a note
        unlock
        """),
    Regression(
      name: "a secret below a model that is not shown any more waits",
      script: """
        configure none
        show root model=B
        killInSave call=24
        lock
        push root/a plain protection=complete
        show root model=A
        close root/a
        save
        launch
        """),
    Regression(
      name: "a secret below a page without a model that came beside is not made again",
      script: """
        configure none
        push root/b plain model=A
        push root/b/c plain protection=complete
        save
        lock
        launch unnamed=yes
        protect root/b complete
        unlock
        """),
    Regression(
      name: "a secret that shows another model is made from its row",
      script: """
        configure none
        save
        cutPower losing=18446744073709551615
        push root/d plain model=B protection=first
        protect root/d parent
        show root/d model=A
        killInSave call=13
        close root/a/e/n1
        unlock
        """),
    Regression(
      name: "a place whose rows have all gone stands where another row's place stands that comes into it",
      script: """
        push root/a plain
        restoreAgain
        push root/a/d plain
        show root/a/d model=A
        show root model=A
        push root/a/a plain
        restoreLate root/a
        show root
        reverse root/a
        restoreLate root/a/a
        show root model=A
        show root/a/d model=B
        close root/a/a
        save
        launch
        """),
    Regression(
      name: "an object stands where the row stands of which one is made in its place",
      script: """
        configure none
        push root/b plain protection=complete
        save
        kill
        lock
        push root/c plain
        push root/a plain model=A
        rename root/a b
        unlock
        """),
    Regression(
      name: "a page without a record that stands before one with a class without a key tells of the order",
      script: """
        configure first
        push root/c plain
        push root/b plain
        push root/b/c plain
        push root/c/d plain
        save
        protect root/b complete
        lock
        launch
        move root/b/c root/c/d
        push root/c/d/b plain protection=complete
        unlock
        """),
    Regression(
      name: "what a page without a place says of its class is not asked for",
      script: """
        configure none
        cutPowerInSave call=37 losing=18446744073709551615
        push root/c plain
        push root/e plain
        rename root/c e
        save
        protect root/e complete
        killInSave call=11
        launch
        """),
    Regression(
      name: "what every page has is no secret",
      script: """
        configure complete
        push root/b plain
        push root/a plain
        push root/b/b plain
        push root/b/b/a plain bytes=4710 protection=none
        push root/a/b plain bytes=749
        killInSave call=32
        edit root/b/b/a value=6
        save
        """),
    Regression(
      name: "a late page that has named its first model joins what its row has",
      script: """
        push root/a diary value=8
        save
        close root/a
        launch
        push root/a diary
        save
        show root/a model=B
        restoreLate root/a
        """),
    Regression(
      name: "an unlock adds a part that the stored state has a gap for",
      script: """
        configure none
        push root/a plain protection=first
        save
        close root/a
        push root/e plain protection=complete
        save
        launch
        protect root/e first
        save
        lock
        launch
        show root model=A value=9
        push root/c plain protection=complete
        unlock
        """),
    Regression(
      name: "what a hidden row has is not lost when its page is closed and nothing was saved",
      script: """
        configure none
        push root/b plain
        push root/b/c plain protection=complete
        save
        lock
        launch
        protect root/b complete
        close root/b
        unlock
        save
        push root/b plain
        restoreLate root/b
        """),
    Regression(
      name: "a page whose state lay beside shows a model, and another one that it had",
      script: """
        configure none
        push root/b plain model=A value=3
        push root/b/c plain protection=complete value=4
        save
        lock
        launch
        protect root/b complete
        show root/b model=B
        protect root/b none
        unlock
        show root/b model=A
        save
        launch
        """),
    Regression(
      name: "what could not be read stands behind what was there when it follows",
      script: """
        configure none
        lock
        push root/a plain protection=complete
        save
        launch model=A
        show root
        show root model=A
        push root/c plain
        unlock
        """),
    Regression(
      name: "a row is absent also where its object has moved below one that comes anew",
      script: """
        push root/c plain model=A
        push root/d plain model=A
        push root/d/a plain
        save
        show root/d model=B
        show root/c
        move root/c root/d/a
        killInSave call=34
        launch
        """),
    Regression(
      name: "a page without a row of its own place stands behind those that have one",
      script: """
        push root/e plain
        save
        edit root value=3
        save
        cutPower losing=18446744073709551615
        push root/a plain
        show root model=B
        show root model=A
        push root/e special
        unlock
        """),
    Regression(
      name: "what a locked run left absent is not absent if it had it on the screen after that",
      script: """
        configure none
        lock
        killInSave call=31
        push root/d diary model=B protection=complete
        show root/d
        close root/d
        push root/d diary model=B
        unlock
        launch
        """),
    Regression(
      name: "rows of a place that a locked run does not know stand as they stood",
      script: """
        configure first
        push root/a plain
        push root/d plain model=A protection=complete
        save
        lock
        launch hiding=a
        push root/d plain
        show root/d model=A value=5
        push root/a plain
        rename root/d e
        cutPowerInSave call=23 losing=18446744073709551615
        launch
        unlock
        """),
    Regression(
      name: "a page that could be read keeps its role, whatever waits beside",
      script: """
        configure none
        killInSave call=31
        lock
        push root/a plain model=B protection=complete
        killInSave call=33
        push root/a plain model=B presented=yes
        save
        launch
        unlock
        """),
    Regression(
      name: "what lies below a row that was left out has the role that it has",
      script: """
        push root/e plain
        push root/e/d plain presented=yes
        save
        killInLaunch call=23
        push root/c plain
        push root/d plain
        move root/c root/d
        rename root/d/c d
        rename root/d e
        restoreLate root/e
        """),
    Regression(
      name: "a run that can't read what is stored does not make it durable",
      script: """
        push root/b plain
        save
        launch model=A
        edit root value=3
        killInSave call=14
        show root model=B
        lock
        launch
        edit root value=5
        failingSave fault=0 call=2
        cutPower losing=18446744073709551615
        unlock
        launch
        """),
    Regression(
      name: "a page whose model is gone, and that has written nothing, has no place of its own",
      script: """
        save
        toggle B
        cutPower losing=18446744073709551615
        push root/a special
        editUnencodable root/a value=10
        show root/a model=B
        push root/d plain
        unlock
        """),
    Regression(
      name: "what waits below a row that an object has left is older than what is on the screen",
      script: """
        lock
        killInSave call=37
        launch model=A
        edit root value=7
        push root/b plain
        show root
        save
        unlock
        push root/b diary
        crashInLaunch b
        launch model=A
        save
        launch
        """),
    Regression(
      name: "what a migration has made of no record is no edit where the class has no key",
      script: """
        configure none
        push root/c plain
        rename root/c a
        editUnencodable root/a value=4
        save
        push root/e plain
        killInSave call=17
        cutPower losing=18446744073709551615
        launch version=3
        protect root/a first
        unlock
        """),
    Regression(
      name: "what is on the screen is not too old while only a secret changes, also without its key",
      script: """
        configure none
        push root/e plain
        push root/e/d plain
        lock
        push root/e/d/d special
        rename root/e/d a
        push root/e/a/d/c plain protection=complete
        save
        wait 174
        wait 469
        save
        launch
        """),
    Regression(
      name: "a save for the age alone tells the time where it can be read",
      script: """
        configure none
        push root/d special
        push root/c plain protection=complete
        lock
        save
        wait 643
        save
        launch
        """),
    Regression(
      name: "a part that was not written hides no row",
      script: """
        configure none
        save
        lock
        launch
        push root/a plain
        push root/a/e plain
        rename root/a/e b
        show root/a/b model=B value=11
        edit root value=12
        protect root/a complete
        killInSave call=20
        push root/b plain
        unlock
        """),
    Regression(
      name: "what an unlock finds in a weaker part is gone from the generation before as well",
      script: """
        configure none
        push root/b plain value=5
        save
        lock
        launch
        protect root/b complete
        killInSave call=16
        lock
        launch
        unlock
        save
        edit root value=9
        save
        """),
    Regression(
      name: "a page without a place, beside one whose state lies beside, is kept",
      script: """
        configure none
        save
        kill
        lock
        push root/c plain protection=complete
        push root/e plain
        rename root/e c
        unlock
        """),
    Regression(
      name: "a way says nothing of the role, also where it is added",
      script: """
        configure none
        push root/a note presented=yes
        save
        cutPower losing=18446744073709551615
        push root/a/c plain
        protect root/a/c first
        save
        launch version=3
        protect root/a complete
        unlock
        launch
        """),
    Regression(
      name: "what becomes one with a row of a stronger class leaves its part",
      script: """
        configure first
        push root/c plain value=2
        save
        cutPower losing=18446744073709551615
        push root/c plain model=B protection=complete
        edit root/c value=9
        unlock
        save
        """),
  ]
}
