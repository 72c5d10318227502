/// A change to a running session: the body of PATCH /screencapture/{id}.
package struct SessionChange: APIModel, Equatable {
    /// The change of an optional bound. JSON has a number, `null`, or no field.
    package enum Bound: Sendable, Equatable {
        case stays
        /// The new bound; `nil` for none, so that it follows the source.
        case becomes(Int?)

        fileprivate func applied(to value: Int?) -> Int? {
            switch self {
            case .stays: value
            case .becomes(let changed): changed
            }
        }
    }

    /// The new bitrate; `nil` if it stays, as for all optional fields here.
    package var bitrate: Int?
    package var fps: Int?
    package var adapt: Adaptation?
    package var minBitrate: Int?
    /// The new width; an even number.
    package var width = Bound.stays
    /// The new height; an even number.
    package var height = Bound.stays
    package var maxPixels = Bound.stays
    package var join: Join?
    package var onDemand: Bool?
    package var record: Bool?
    package var recordWhen: RecordWhen?

    package init() {}

    package static let schema = Schema.request(
        "SessionChange",
        "An absent field leaves its value. `null` removes a bound: the source's side, or no limit of pixels.",
        [
            Field("bitrate", .bitrate), Field("fps", .fps),
            Field("adapt", .adaptation), Field("minBitrate", .minBitrate),
            Field("width", .side.orNull), Field("height", .side.orNull), Field("maxPixels", .maxPixels.orNull),
            Field("join", .join), Field("onDemand", .onDemand), Field("record", .record),
            Field("recordWhen", .recordWhen),
        ]
    )

    /// Returns `request` with this change.
    package func applied(to request: SessionRequest) -> SessionRequest {
        var request = request
        request.bitrate = bitrate ?? request.bitrate
        request.fps = fps ?? request.fps
        request.adapt = adapt ?? request.adapt
        request.minBitrate = minBitrate ?? request.minBitrate
        request.width = width.applied(to: request.width)
        request.height = height.applied(to: request.height)
        request.maxPixels = maxPixels.applied(to: request.maxPixels)
        request.join = join ?? request.join
        request.onDemand = onDemand ?? request.onDemand
        request.record = record ?? request.record
        request.recordWhen = recordWhen ?? request.recordWhen
        return request
    }
}

extension SessionChange.Bound: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = .becomes(container.decodeNil() ? nil : try container.decode(Int.self))
    }

    package func encode(to encoder: any Encoder) throws {
        guard case .becomes(let value?) = self else {
            var container = encoder.singleValueContainer()
            return try container.encodeNil()
        }
        try value.encode(to: encoder)
    }
}

// Synthesized conformances prefer these methods, which distinguish an absent field from `null`.
extension KeyedDecodingContainer {
    package func decode(_: SessionChange.Bound.Type, forKey key: Key) throws -> SessionChange.Bound {
        guard contains(key) else { return .stays }
        return .becomes(try decodeNil(forKey: key) ? nil : decode(Int.self, forKey: key))
    }
}

extension KeyedEncodingContainer {
    package mutating func encode(_ bound: SessionChange.Bound, forKey key: Key) throws {
        switch bound {
        case .stays: break
        case .becomes(nil): try encodeNil(forKey: key)
        case .becomes(let value?): try encode(value, forKey: key)
        }
    }
}
