package import Media

/// The condition of a wait: the query of GET /v1/sessions/{id}/wait.
package struct ScreenWait: APIModel {
    package enum Goal: String, Sendable, Codable, CaseIterable {
        case changed, `static`, matches, gone, sound, silence
    }

    package var until = Goal.changed
    package var timeout = 30.0
    package var `for`: Double?
    package var after: Int64?
    package var region: String?
    package var ignore: String?
    package var tolerance: Int?
    package var share: Double?
    package var template: String?
    package var at: String?
    package var threshold: Double?

    package init() {}

    /// How long the screen must be unchanged, or the sound or the silence must last, s.
    package var staticTime: Double { `for` ?? (until == .static || until == .silence ? 1 : 0) }

    /// Whether it is for the device's sound, instead of the screen.
    package var isForSound: Bool { until == .sound || until == .silence }

    /// From which level on sound counts if the caller does not say it, in dB.
    package static let defaultThreshold = -50.0

    /// Whether the agent must compare pixels, instead of the relay counting frames.
    package var comparesPixels: Bool {
        region != nil || ignore != nil || tolerance != nil || share != nil || template != nil
    }

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "until",
                .words(Goal.self),
                """
                `changed`: the screen changes, and is then unchanged for the time `for`. `static`: it is unchanged for that \
                time, which may have begun before the call. `matches`: it shows the template. `gone`: it does not. `sound`: the \
                device's sound is as loud as the threshold for the time `for`. `silence`: it is not, from the call on.
                """,
                isRequired: true
            ),
            Field("timeout", .number(0...600).default(30), "How long to wait, s."),
            Field(
                "for",
                .number(0...600),
                """
                How long the screen must be unchanged, or the sound or silence must last, s. Default: 1 with `static` and \
                `silence`, 0 with `changed` and `sound`.
                """
            ),
            Field(
                "after",
                .integer(0...Int.max),
                """
                The PTS of a picture, µs. Only pictures after it count, also those from before the call. Not with fields \
                that compare pixels.
                """
            ),
            Field(
                "region",
                .region,
                "The part of the snapshot that counts, in its pixels: `x,y,width,height`. Default: all of it."
            ),
            Field(
                "ignore",
                .regions,
                "Parts that do not count, such as a caret's: `x,y,width,height`, more after `;`."
            ),
            Field(
                "tolerance",
                .integer(0...255),
                "How far a pixel's red, green or blue may be from what it is compared with. Default: 0."
            ),
            Field("share", .number(0...1), "The share of pixels that may be further from it. Default: 0."),
            Field("template", .shortName, "The name of the template, with `matches` and `gone`."),
            Field("at", .place, "Where its top left corner is: `x,y`. Required with `template`."),
            Field(
                "threshold",
                .number(-120...0),
                """
                With `sound` and `silence`: from which level on sound counts, in dB below full scale. A level is the root mean \
                square of a packet. Default: -50.
                """
            ),
        ]
    )
}

extension Schema {
    private static let number = "(0|[1-9][0-9]{0,4})"

    private static let numbers = "\(number),\(number),\(number),\(number)"

    fileprivate static let place = Schema(
        .pattern(
            Pattern(length: 1...11, expression: "^\(number),\(number)$", allowed: "x,y, as in 412,300") {
                $0.place != nil
            }
        )
    )

    fileprivate static let region = Schema(
        .pattern(
            Pattern(length: 1...23, expression: "^\(numbers)$", allowed: "x,y,width,height, as in 0,40,200,30") {
                $0.region != nil
            }
        )
    )

    fileprivate static let regions = Schema(
        .pattern(
            Pattern(
                length: 1...800,
                expression: "^\(numbers)(;\(numbers)){0,31}$",
                allowed: "up to 32 of x,y,width,height with ; between them"
            ) { (1...32).contains($0.regions?.count ?? 0) }
        )
    )
}

extension String {
    /// Numbers from 0 to 65535 separated by commas; `nil` for other text.
    private var wholeNumbers: [Int]? {
        let parts = split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part -> Int? in
            guard (1...5).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
                part == "0" || part.first != "0", let number = Int(part, radix: 10), number <= 65535
            else { return nil }
            return number
        }
        return numbers.count == parts.count ? numbers : nil
    }

    /// A point `x,y`; `nil` for other text.
    package var place: (x: Int, y: Int)? {
        guard let numbers = wholeNumbers, numbers.count == 2, let x = numbers[at: 0], let y = numbers[at: 1] else {
            return nil
        }
        return (x, y)
    }

    /// A region `x,y,width,height` with sides of at least 1; `nil` for other text.
    package var region: PictureRegion? {
        guard let numbers = wholeNumbers, numbers.count == 4, let x = numbers[at: 0], let y = numbers[at: 1],
            let width = numbers[at: 2], let height = numbers[at: 3]
        else { return nil }
        let region = PictureRegion(x: x, y: y, width: width, height: height)
        return region.isEmpty ? nil : region
    }

    /// Regions separated by `;`; `nil` for other text.
    package var regions: [PictureRegion]? {
        let parts = split(separator: ";", omittingEmptySubsequences: false)
        let regions = parts.compactMap { String($0).region }
        return regions.count == parts.count ? regions : nil
    }
}
