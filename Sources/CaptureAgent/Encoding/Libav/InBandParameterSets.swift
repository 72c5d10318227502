package import Media

/// Makes an encoder's output decodable from every IDR picture.
///
/// If the encoder gives its parameter sets only once, at the head of the stream or beside it, they are inserted before
/// each IDR picture.
package struct InBandParameterSets {
    private let codec: Codec
    /// The last parameter sets seen, Annex B.
    private var current: [UInt8]

    /// - Parameter header: The bytes that the encoder gave beside the stream; may be empty.
    package init(codec: Codec, header: [UInt8]) {
        self.codec = codec
        current = ParameterSets(leading: header, codec: codec)?.bytes ?? []
    }

    /// The kind of a piece of output.
    package enum Piece: Equatable {
        case picture(bytes: [UInt8], isKeyframe: Bool)
        /// Parameter sets and similar units, which are remembered. The picture follows later.
        case header
        /// Bytes that do not begin with a start code.
        case notAnnexB
    }

    package mutating func take(_ bytes: [UInt8]) -> Piece {
        let units = AnnexB.units(in: bytes)
        guard let first = units.first, first.range.lowerBound == 0 else { return .notAnnexB }
        let types = units.filter { $0.header < bytes.count }.map { type(ofHeader: bytes[$0.header]) }
        let sets = ParameterSets(leading: bytes, codec: codec)?.bytes
        if let sets { current = sets }
        guard types.contains(where: isSlice) else { return .header }
        let isKeyframe = types.contains(where: isIDR)
        return .picture(bytes: isKeyframe && sets == nil ? current + bytes : bytes, isKeyframe: isKeyframe)
    }

    /// `nal_unit_type`: ITU-T H.264 section 7.3.1, H.265 section 7.3.1.2.
    private func type(ofHeader header: UInt8) -> UInt8 {
        switch codec {
        case .h264: header & 0x1F
        case .h265: header >> 1 & 0x3F
        }
    }

    /// H.264 table 7-1: coded slices. H.265 table 7-1: VCL units.
    private func isSlice(_ type: UInt8) -> Bool {
        switch codec {
        case .h264: (1...5).contains(type)
        case .h265: type < 32
        }
    }

    /// H.264 table 7-1: 5. H.265 table 7-1: IDR_W_RADL and IDR_N_LP.
    private func isIDR(_ type: UInt8) -> Bool {
        switch codec {
        case .h264: type == 5
        case .h265: type == 19 || type == 20
        }
    }
}
