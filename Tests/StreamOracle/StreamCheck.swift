package import Media

/// A picture of a stream, and its fault.
package struct StreamFault: Sendable, Equatable, CustomStringConvertible {
    /// Its index in the stream.
    package let picture: Int
    package let violation: Violation

    package init(picture: Int, _ violation: Violation) {
        self.picture = picture
        self.violation = violation
    }

    package var description: String { "Picture \(picture): \(violation)" }
}

/// Checks the headers of a stream's pictures by recomputing them.
package struct StreamCheck {
    private var rules: any CodecRules

    package init(codec: Codec) {
        rules = codec == .h264 ? H264Rules() : H265Rules()
    }

    /// Returns what is wrong with the stream's next access unit.
    package mutating func take(_ accessUnit: [UInt8]) -> [Violation] { rules.take(ByteStream.units(in: accessUnit)) }

    /// Returns everything that is wrong with a stream from its first access unit on.
    package static func faults(in accessUnits: [[UInt8]], codec: Codec) -> [StreamFault] {
        var check = StreamCheck(codec: codec)
        return accessUnits.enumerated().flatMap { index, unit in
            check.take(unit).map { StreamFault(picture: index, $0) }
        }
    }
}

/// The rules of one codec. After a violation, checking continues from what the stream says, so that a fault is reported
/// once.
protocol CodecRules {
    /// - Parameter units: The NAL units of the next access unit.
    mutating func take(_ units: [[UInt8]]) -> [Violation]
}
