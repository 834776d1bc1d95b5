// Notes on pages, written with a declarative toolkit. Kill it at any time, and start it again.
// commands: tab · enter on a button · left · right · any other text goes into the field
import StateRestoration

struct Page: View {
  let name: String
  @SceneStorage("title") var title = ""
  @SceneStorage("text") var text = ""

  var body: [any View] {
    Text("Page \(name)")
    TextField(label: "Title", text: $title)
    TextField(label: "Text", text: $text)
  }
}

struct Window: View {
  @SceneStorage("page") var page = "home"

  var body: [any View] {
    for name in ["home", "work"] { Button(label: name) { page = name }.id("to \(name)") }
    Page(name: page).id(page)
  }
}

let screen = Screen(Window())

try await RestorationSession.run(at: .applicationState("com.example.declarative"), root: screen.scope) { _ in
  screen.draw()
  while let line = await Task.detached(operation: { readLine() }).value {
    screen.press(line)
    screen.draw()
  }
}
