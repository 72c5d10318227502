import Program

/// What a file says about itself.
///
/// The recorder makes it for a new file, and the MP4 reader makes it from a file. ``Library`` keeps it, and
/// ``Library/rebuild(folder:clock:inspect:)`` restores the catalogue from it.
package struct ItemFacts: Sendable, Equatable {
    /// One track of the file.
    package struct Track: Sendable, Equatable {
        /// The codec string of RFC 6381, such as `avc1.64001f` or `opus`; at most 64 bytes.
        package var codec: String
        /// The kind of media, such as `video` or `audio`; at most 64 bytes.
        package var kind: String

        package init(codec: String, kind: String) {
            self.codec = codec
            self.kind = kind
        }
    }

    /// A time in the file without media.
    package struct Gap: Sendable, Equatable {
        /// Its begin, in µs since the file's start.
        package var start: Int64
        /// Its length, in µs.
        package var length: Int64
        /// Why there is no media, such as `source_lost`; at most 64 bytes.
        package var reason: String

        package init(start: Int64, length: Int64, reason: String) {
            self.start = start
            self.length = length
            self.reason = reason
        }
    }

    package static let mostLabels = 16
    /// The most UTF-8 bytes of a label's name, a label's value, a session's name and an owner.
    package static let mostBytes = 128
    package static let mostTracks = 16
    /// The most gaps that the catalogue keeps. It drops later ones.
    package static let mostGaps = 1000
    /// The longest duration, in µs: a year.
    package static let longest: Int64 = 366 * 86_400 * 1_000_000
    /// The last start, in µs since 1970 (in 2255). JSON carries larger numbers inexactly.
    package static let lastStart: Int64 = 1 << 53 - 1 << 32

    /// The recording's id: a UUID, in lower case.
    package var recording: String
    /// The item's place in the recording, from 0.
    package var number: Int64
    /// The device's name: 1 to 64 letters, digits, `-` and `_`.
    package var device: String
    /// The session's id; 0 for a file of another program.
    package var session: UInt32
    package var sessionName: String?
    /// At most ``mostLabels``, without control characters.
    package var labels: [String: String]
    /// The name of the key that began the recording, for limits per owner.
    package var owner: String?
    /// When the first picture was taken: UTC, in µs since 1970.
    package var start: Int64
    /// The same moment on the monotonic clock, in ns.
    package var anchor: Int64
    /// The kernel's boot id. The anchor counts within this boot.
    package var boot: String
    /// In µs.
    package var duration: Int64
    /// The file's size.
    package var bytes: Int64
    package var tracks: [Track]
    /// The video's size in pixels; 0 without video.
    package var (width, height): (Int64, Int64)
    /// The nominal frame rate in pictures per second; 0 without video.
    package var fps: Double
    package var gaps: [Gap]
    /// The number of keyframes.
    package var keyframes: Int64
    /// Whether the file was finalised.
    package var isComplete: Bool

    package init(
        recording: String,
        number: Int64,
        device: String,
        session: UInt32,
        sessionName: String? = nil,
        labels: [String: String] = [:],
        owner: String? = nil,
        start: Int64,
        anchor: Int64,
        boot: String,
        duration: Int64 = 0,
        bytes: Int64 = 0,
        tracks: [Track] = [],
        width: Int64 = 0,
        height: Int64 = 0,
        fps: Double = 0,
        gaps: [Gap] = [],
        keyframes: Int64 = 0,
        isComplete: Bool = false
    ) {
        self.recording = recording
        self.number = number
        self.device = device
        self.session = session
        self.sessionName = sessionName
        self.labels = labels
        self.owner = owner
        self.start = start
        self.anchor = anchor
        self.boot = boot
        self.duration = duration
        self.bytes = bytes
        self.tracks = tracks
        self.width = width
        self.height = height
        self.fps = fps
        self.gaps = gaps
        self.keyframes = keyframes
        self.isComplete = isComplete
    }
}

extension ItemFacts {
    /// Whether it is a recording of a session, not a file of another program.
    package var isOfSession: Bool { session != 0 }

    /// Checks all limits. A file from elsewhere may contain anything.
    ///
    /// - Throws: ``LibraryError/invalid(_:)`` with the first violated limit.
    package func check() throws(LibraryError) {
        try Self.require(recording.isUUID, "The recording's id '\(recording.shortened)' is not a UUID in lower case.")
        try Self.require(device.isName, "The device '\(device.shortened)' must be \(String.nameRule).")
        try Self.require(
            number >= 0 && duration >= 0 && bytes >= 0 && anchor >= 0 && width >= 0 && height >= 0 && keyframes >= 0,
            "A number of the file is negative."
        )
        try Self.require(duration <= Self.longest, "The file lasts longer than a year.")
        try Self.require(fps.isFinite && fps >= 0, "The frame rate is not a number from 0.")
        try Self.require(
            (1...Self.lastStart).contains(start),
            "The start, \(start) µs since 1970, is not from 1 to \(Self.lastStart)."
        )
        try Self.checkText(sessionName ?? "", "session's name")
        try Self.checkText(owner ?? "", "owner")
        try Self.checkText(boot, "boot id")
        try Self.check(labels: labels)
        try Self.require(tracks.count <= Self.mostTracks, "The file has more than \(Self.mostTracks) tracks.")
        for track in tracks {
            try Self.checkText(track.codec, "codec", atMost: 64)
            try Self.checkText(track.kind, "kind of a track", atMost: 64)
        }
        for gap in gaps {
            try Self.require(gap.start >= 0 && gap.length >= 0, "A gap's time is negative.")
            try Self.checkText(gap.reason, "reason of a gap", atMost: 64)
        }
    }

    /// Returns the beginning of a text that fits a name or a label, without control characters.
    static func fitting(_ text: String) -> String {
        var (fitting, count) = ("", 0)
        for character in text where !character.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            count += String(character).utf8.count
            guard count <= mostBytes else { break }
            fitting.append(character)
        }
        return fitting
    }

    /// Checks the limits of labels.
    ///
    /// - Throws: ``LibraryError/invalid(_:)``.
    static func check(labels: [String: String]) throws(LibraryError) {
        try require(labels.count <= mostLabels, "An item may have \(mostLabels) labels, not \(labels.count).")
        for (name, value) in labels {
            try require(!name.isEmpty, "A label's name is empty.")
            try checkText(name, "label's name")
            try checkText(value, "label's value")
        }
    }

    private static func checkText(
        _ text: String,
        _ what: String,
        atMost most: Int = mostBytes
    ) throws(LibraryError) {
        try require(
            text.utf8.count <= most,
            "The \(what) '\(text.shortened)' has \(text.utf8.count) bytes; the most are \(most)."
        )
        try require(
            text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
            "The \(what) '\(text.shortened)' contains a control character."
        )
    }

    private static func require(_ holds: Bool, _ fault: @autoclosure () -> String) throws(LibraryError) {
        guard holds else { throw .invalid(fault()) }
    }
}

extension String {
    /// Whether it is a UUID in lower case, such as `123e4567-e89b-12d3-a456-426614174000`.
    var isUUID: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// At most its first 64 characters, without control characters, for messages.
    package var shortened: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64).filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
