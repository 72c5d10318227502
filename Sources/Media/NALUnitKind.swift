/// The kinds of NAL units that matter for carrying a stream: `nal_unit_type` of H.264 table 7-1 and H.265 table 7-1.
package enum NALUnitKind: Sendable, Hashable {
    case videoParameterSet, sequenceParameterSet, pictureParameterSet
    /// An access unit delimiter.
    case delimiter
    /// A slice, or a slice segment, of any kind of picture.
    case slice
    case other

    package var isParameterSet: Bool {
        self == .videoParameterSet || self == .sequenceParameterSet || self == .pictureParameterSet
    }

    /// - Parameter header: The first byte of the NAL unit's header.
    package init(header: UInt8, codec: Codec) {
        switch codec {
        case .h264: self.init(h264: header & 0x1F)
        case .h265: self.init(h265: header >> 1 & 0x3F)
        }
    }

    private init(h264 type: UInt8) {
        switch type {
        case 1...5: self = .slice
        case 7: self = .sequenceParameterSet
        case 8: self = .pictureParameterSet
        case 9: self = .delimiter
        default: self = .other
        }
    }

    private init(h265 type: UInt8) {
        switch type {
        case 0...31: self = .slice
        case 32: self = .videoParameterSet
        case 33: self = .sequenceParameterSet
        case 34: self = .pictureParameterSet
        case 35: self = .delimiter
        default: self = .other
        }
    }
}
