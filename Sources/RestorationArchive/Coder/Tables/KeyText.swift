/// The text of a coding key: two spellings that Unicode merely calls equivalent are two keys, as they are in a file.
struct KeyText: ExactText {
  let rawValue: String
}
