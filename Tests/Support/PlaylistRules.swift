package import Foundation

/// A playlist of HLS, checked against the rules of RFC 8216 and its second edition (draft-pantos-hls-rfc8216bis).
package struct CheckedPlaylist: Sendable {
    package struct Segment: Sendable, Equatable {
        package var address: String
        /// In s.
        package var duration: Double
        package var map: String?
        package var date: Date?
        package var isGap = false
        package var isDiscontinuous = false
        package var parts: [Part] = []
    }

    package struct Part: Sendable, Equatable {
        package var address: String
        /// In s.
        package var duration: Double
        package var isIndependent: Bool
    }

    /// What breaks a rule.
    package private(set) var faults: [String] = []
    package private(set) var segments: [Segment] = []
    package private(set) var target: Int?
    package private(set) var type: String?
    package private(set) var isEnded = false
    /// The number of the first segment, of those that are left out, and the parts of the segment that goes on.
    package private(set) var (first, skipped): (Int, Int) = (0, 0)
    package private(set) var lastParts: [Part] = []
    /// The address of the part that comes next.
    package private(set) var hint: String?
    /// The longest part, in s, and the attributes of EXT-X-SERVER-CONTROL.
    package private(set) var partTarget: Double?
    package private(set) var control: [String: String] = [:]
    /// The attributes of each variant and rendition, with the address as `URI`.
    package private(set) var variants: [[String: String]] = []
    package private(set) var renditions: [[String: String]] = []
    private var version = 1
    private var isIndependent = false

    /// The tags that a playlist has at most once, and those that only one kind of playlist has (4.4).
    private static let once: Set<String> = [
        "EXTM3U", "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-PLAYLIST-TYPE", "EXT-X-ENDLIST",
        "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-MEDIA-SEQUENCE", "EXT-X-SERVER-CONTROL", "EXT-X-PART-INF", "EXT-X-SKIP",
        "EXT-X-DISCONTINUITY-SEQUENCE",
    ]
    private static let ofMedia: Set<String> = [
        "EXT-X-TARGETDURATION", "EXT-X-PLAYLIST-TYPE", "EXT-X-ENDLIST", "EXT-X-MAP", "EXTINF", "EXT-X-GAP",
        "EXT-X-DISCONTINUITY", "EXT-X-PROGRAM-DATE-TIME", "EXT-X-MEDIA-SEQUENCE",
    ]
    private static let ofVariants: Set<String> = ["EXT-X-STREAM-INF", "EXT-X-MEDIA"]

    package init(_ text: String) {
        // 4.1: UTF-8 without a byte order mark and control characters; lines end with LF or CR LF.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        require(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F }, "control codes")
        require(lines.first == "#EXTM3U", "the first line is not #EXTM3U (4.4.1.1)")
        require(lines.last == "", "the last line has no end")
        var (seen, next, variant) = ([String](), Segment(address: "", duration: -1), [String: String]?.none)
        var map: String?
        for line in lines.dropLast() where !line.isEmpty {
            guard line.hasPrefix("#EXT") else {
                if line.hasPrefix("#") { continue }
                if var found = variant {
                    found["URI"] = line
                    variants.append(found)
                    variant = nil
                } else {
                    next.address = line
                    next.map = map
                    add(next)
                    next = Segment(address: "", duration: -1)
                }
                continue
            }
            require(variant == nil, "no address follows EXT-X-STREAM-INF (4.4.6.2)")
            let parts = line.dropFirst().split(separator: ":", maxSplits: 1).map(String.init)
            let (tag, value) = (parts[0], parts.count > 1 ? parts[1] : "")
            seen.append(tag)
            switch tag {
            case "EXT-X-VERSION": version = Int(value) ?? 0
            case "EXT-X-TARGETDURATION":
                target = Int(value)
                require(segments.isEmpty, "the target duration follows a segment")
            case "EXT-X-PLAYLIST-TYPE":
                type = value
                require(["VOD", "EVENT"].contains(value), "unknown type \(value) (4.4.3.5)")
            case "EXTM3U": break
            case "EXT-X-ENDLIST": isEnded = true
            case "EXT-X-INDEPENDENT-SEGMENTS": isIndependent = true
            case "EXT-X-MAP":
                map = attributes(value)["URI"]
                require(map != nil, "EXT-X-MAP without URI (4.4.4.5)")
            case "EXT-X-MEDIA-SEQUENCE":
                first = Int(value) ?? -1
                require(first >= 0 && segments.isEmpty, "EXT-X-MEDIA-SEQUENCE \(value) (4.4.3.2)")
            case "EXT-X-DISCONTINUITY-SEQUENCE":
                require(Int(value) != nil && segments.isEmpty, "EXT-X-DISCONTINUITY-SEQUENCE \(value) (4.4.3.3)")
            case "EXT-X-SERVER-CONTROL": control = attributes(value)
            case "EXT-X-PART-INF": partTarget = attributes(value)["PART-TARGET"].flatMap { Double($0) }
            case "EXT-X-SKIP":
                skipped = attributes(value)["SKIPPED-SEGMENTS"].flatMap { Int($0) } ?? 0
                require(skipped > 0 && segments.isEmpty, "EXT-X-SKIP \(value) (4.4.5.2)")
            case "EXT-X-PART":
                let found = attributes(value)
                let part = Part(
                    address: found["URI"] ?? "",
                    duration: found["DURATION"].flatMap { Double($0) } ?? -1,
                    isIndependent: found["INDEPENDENT"] == "YES"
                )
                require(!part.address.isEmpty && part.duration > 0, "EXT-X-PART \(value) (4.4.4.9)")
                require(part.duration <= partTarget ?? 0, "\(part.address) is longer than PART-TARGET (4.4.4.9)")
                next.parts.append(part)
            case "EXT-X-PRELOAD-HINT":
                let found = attributes(value)
                hint = found["URI"]
                require(found["TYPE"] == "PART" && hint != nil, "EXT-X-PRELOAD-HINT \(value) (4.4.5.3)")
            case "EXT-X-GAP": next.isGap = true
            case "EXT-X-DISCONTINUITY": next.isDiscontinuous = true
            case "EXT-X-PROGRAM-DATE-TIME":
                next.date = try? Date(value, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                require(next.date != nil, "the date \(value) cannot be read (4.4.4.6)")
            case "EXTINF":
                require(value.contains(","), "EXTINF without a comma (4.4.4.1)")
                next.duration = value.split(separator: ",").first.flatMap { Double($0) } ?? -1
            case "EXT-X-STREAM-INF": variant = attributes(value)
            case "EXT-X-MEDIA": renditions.append(attributes(value))
            default: fault("unknown tag \(tag)")
            }
        }
        lastParts = next.parts
        for tag in Self.once where seen.filter({ $0 == tag }).count > 1 { fault("\(tag) is a duplicate") }
        check(seen)
    }

    private mutating func add(_ segment: Segment) {
        require(segment.duration >= 0, "\(segment.address) has no EXTINF")
        // 4.4.3.1: rounded to the nearest integer, a duration is at most the target duration.
        if let target { require(segment.duration.rounded() <= Double(target), "\(segment.address) is too long") }
        segments.append(segment)
    }

    private mutating func check(_ seen: [String]) {
        require(variant(of: seen) != media(of: seen), "tags of a media and of a multivariant playlist (4.4)")
        guard media(of: seen) else { return checkVariants() }
        require(target != nil, "EXT-X-TARGETDURATION is missing (4.4.3.1)")
        require(isIndependent, "EXT-X-INDEPENDENT-SEGMENTS is missing, although each segment begins with a keyframe")
        if type == "VOD" { require(isEnded, "a VOD playlist without end (4.4.3.5)") }
        // 8: EXT-X-MAP in a playlist of pictures demands version 6, a fractional EXTINF version 3.
        if seen.contains("EXT-X-MAP") { require(version >= 6, "version \(version) with EXT-X-MAP") }
        for (former, segment) in zip(segments, segments.dropFirst()) where former.map != segment.map {
            require(segment.isDiscontinuous, "\(segment.address) has another map without a discontinuity (4.4.4.3)")
        }
        let addresses = segments.map(\.address) + (segments.flatMap(\.parts) + lastParts).map(\.address)
        require(Set(addresses).count == addresses.count, "an address is a duplicate")
        checkParts()
    }

    /// Checks low latency (4.4.3.7 and 4.4.3.8).
    private mutating func checkParts() {
        guard let partTarget else { return require(lastParts.isEmpty && hint == nil, "parts without PART-TARGET") }
        require(version >= 9 || skipped == 0, "version \(version) with EXT-X-SKIP (8)")
        let holdBack = control["PART-HOLD-BACK"].flatMap { Double($0) } ?? 0
        require(holdBack >= 2 * partTarget, "PART-HOLD-BACK is too short")
        if let until = control["CAN-SKIP-UNTIL"].flatMap({ Double($0) }) {
            require(until >= 6 * Double(target ?? 0), "CAN-SKIP-UNTIL is too short")
        }
        for parts in segments.map(\.parts) + [lastParts] where parts.count > 1 {
            // A part before a keyframe may be shorter.
            for (part, next) in zip(parts, parts.dropFirst()) where !next.isIndependent {
                require(part.duration >= 0.85 * partTarget, "\(part.address) is too short (4.4.4.9)")
            }
        }
    }

    private mutating func checkVariants() {
        require(!variants.isEmpty, "no variant")
        for variant in variants {
            require(variant["BANDWIDTH"].flatMap { Int($0) } ?? 0 > 0, "no BANDWIDTH (4.4.6.2)")
            require(!(variant["CODECS"] ?? "").isEmpty, "no CODECS (4.4.6.2)")
            let groups = renditions.compactMap { $0["GROUP-ID"] }
            if let audio = variant["AUDIO"] { require(groups.contains(audio), "no group \(audio) (4.4.6.2)") }
        }
        for rendition in renditions {
            require(rendition["TYPE"] != nil && rendition["NAME"] != nil, "a rendition has no TYPE or NAME (4.4.6.1)")
            let isChosen = rendition["DEFAULT"] == "YES"
            require(!isChosen || rendition["AUTOSELECT"] != "NO", "a default rendition is not selected (4.4.6.1)")
        }
    }

    private func variant(of seen: [String]) -> Bool { !Self.ofVariants.isDisjoint(with: seen) }

    private func media(of seen: [String]) -> Bool { !Self.ofMedia.isDisjoint(with: seen) }

    /// Reads an attribute list (4.2).
    private mutating func attributes(_ text: String) -> [String: String] {
        var (attributes, rest) = ([String: String](), text[...])
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            require(name.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "-" }, "attribute \(name)")
            require(attributes[name] == nil, "attribute \(name) is a duplicate")
            rest = rest[rest.index(after: equals)...]
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            guard let end = isQuoted ? rest.firstIndex(of: "\"") : rest.firstIndex(of: ",") ?? rest.endIndex else {
                fault("a quotation mark is missing")
                break
            }
            attributes[name] = String(rest[..<end])
            rest = rest[end...]
            if isQuoted { rest = rest.dropFirst() }
            if rest.first == "," { rest = rest.dropFirst() }
        }
        return attributes
    }

    private mutating func require(_ holds: Bool, _ fault: String) { if !holds { self.fault(fault) } }

    private mutating func fault(_ text: String) { faults.append(text) }

    /// Returns which rules a playlist breaks that has been read again (6.2.1): segments are only added at the end, and
    /// the target duration stays.
    package func faults(followedBy later: CheckedPlaylist) -> [String] {
        var faults: [String] = []
        if target != later.target { faults.append("the target duration changes") }
        if !later.segments.starts(with: segments) { faults.append("a segment changes") }
        if isEnded, later.segments != segments { faults.append("it changes after its end") }
        return faults
    }
}
