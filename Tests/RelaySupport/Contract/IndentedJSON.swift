package import HeliographAPI

extension JSONValue {
    /// Its text with line ends, for people: what fits in a line stays in one.
    package var indentedText: String {
        var text = ""
        write(to: &text, indentation: 0, taken: 0)
        return text + "\n"
    }

    private static let width = 150

    /// - Parameter taken: How much of the line is written already.
    private func write(to text: inout String, indentation: Int, taken: Int) {
        let line = lineText
        guard taken + line.count > Self.width else { return text += line }
        let inner = String(repeating: " ", count: indentation + 2)
        switch self {
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                let name = "\(inner)\(JSONValue.string(member.name).text): "
                text += (index > 0 ? ",\n" : "\n") + name
                member.value.write(to: &text, indentation: indentation + 2, taken: name.count + 1)
            }
            text += "\n\(inner.dropLast(2))}"
        case .array(let elements):
            text += "[\n" + inner
            var column = inner.count
            for (index, element) in elements.enumerated() {
                let last = index + 1 == elements.count
                // Short elements share lines.
                let length = element.lineText.count + (last ? 0 : 1)
                if index > 0 {
                    let fits = element.isScalar && column + 1 + length <= Self.width
                    text += fits ? " " : "\n\(inner)"
                    column = fits ? column + 1 : inner.count
                }
                element.write(to: &text, indentation: indentation + 2, taken: inner.count + 1)
                text += last ? "" : ","
                column += length
            }
            text += "\n\(inner.dropLast(2))]"
        default: text += line
        }
    }

    private var isScalar: Bool {
        switch self {
        case .object, .array: false
        default: true
        }
    }

    /// Returns everything in one line, with spaces after commas and colons.
    private var lineText: String {
        switch self {
        case .object(let members):
            "{"
                + members.map { "\(JSONValue.string($0.name).text): \($0.value.lineText)" }.joined(separator: ", ")
                + "}"
        case .array(let elements): "[" + elements.map(\.lineText).joined(separator: ", ") + "]"
        default: text
        }
    }
}
