package import Wire

/// What a clipboard's content is.
package enum ClipboardType: String, Sendable, Codable, CaseIterable {
    case text, png

    package init(_ kind: ClipboardContent.Kind) {
        self =
            switch kind {
            case .text: .text
            case .png: .png
            }
    }

    package var kind: ClipboardContent.Kind {
        switch self {
        case .text: .text
        case .png: .png
        }
    }

    /// The media type of the content in calls and answers.
    package var mediaType: String {
        switch self {
        case .text: "text/plain"
        case .png: "image/png"
        }
    }

    /// The header field Content-Type of the content.
    package var contentType: String { self == .text ? "\(mediaType); charset=utf-8" : mediaType }
}

/// The query of GET /v1/devices/{device}/clipboard.
package struct ClipboardQuery: APIModel {
    package var type: ClipboardType?
    package var take = false

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "type",
                .words(ClipboardType.self),
                "What to read. Default: `png` if the call's `Accept` is `image/png`, else `text`."
            ),
            ClipboardTake.taking,
        ]
    )
}

/// The query of PUT /v1/devices/{device}/clipboard.
package struct ClipboardTake: APIModel {
    package var take = false

    package init() {}

    package static let schema = Schema.request(nil, [taking])

    fileprivate static let taking = Field(
        "take",
        .bool.default(false),
        "Whether to take the device from another caller that controls it."
    )
}
