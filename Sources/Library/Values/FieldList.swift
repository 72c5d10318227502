/// A list of texts in one column, separated by U+001F. Texts of the library contain no control characters
/// (``ItemFacts/check()``).
///
/// A page of a thousand items decodes three such lists per item. JSON would take longer than the whole query.
enum FieldList {
    private static let separator = "\u{1F}"

    static func encode(_ fields: [String]) -> String { fields.joined(separator: separator) }

    static func decode(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        return text.utf8.split(separator: 0x1F, omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    static func encode(_ labels: [String: String]) -> String {
        encode(labels.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    }

    static func labels(_ text: String) -> [String: String] {
        var labels: [String: String] = [:]
        var fields = decode(text).makeIterator()
        while let name = fields.next(), let value = fields.next() { labels[name] = value }
        return labels
    }

    static func encode(_ tracks: [ItemFacts.Track]) -> String { encode(tracks.flatMap { [$0.codec, $0.kind] }) }

    static func tracks(_ text: String) -> [ItemFacts.Track] {
        var tracks: [ItemFacts.Track] = []
        var fields = decode(text).makeIterator()
        while let codec = fields.next(), let kind = fields.next() {
            tracks.append(ItemFacts.Track(codec: codec, kind: kind))
        }
        return tracks
    }

    static func encode(_ gaps: [ItemFacts.Gap]) -> String {
        encode(gaps.prefix(ItemFacts.mostGaps).flatMap { ["\($0.start)", "\($0.length)", $0.reason] })
    }

    static func gaps(_ text: String) -> [ItemFacts.Gap] {
        var gaps: [ItemFacts.Gap] = []
        var fields = decode(text).makeIterator()
        while let start = fields.next(), let length = fields.next(), let reason = fields.next() {
            gaps.append(ItemFacts.Gap(start: number(start), length: number(length), reason: reason))
        }
        return gaps
    }

    private static func number(_ text: String) -> Int64 { Int64(text, radix: 10) ?? 0 }
}
