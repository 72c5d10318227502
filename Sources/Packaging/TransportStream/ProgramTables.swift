import Media

/// The tables of a transport stream with one program (ISO/IEC 13818-1, 2.4.4).
struct ProgramTables {
    static let associationPID: UInt16 = 0
    static let mapPID: UInt16 = 0x1000
    /// The PID of the program's first stream, which carries the clock. The other streams follow.
    static let firstPID: UInt16 = 0x0100
    private static let (streamID, program): (UInt16, UInt16) = (1, 1)

    /// The packets' bodies: pointer field, section, padding.
    let (association, map): ([UInt8], [UInt8])

    init(streams: [(track: MediaTrack, pid: UInt16)]) {
        var content: [UInt8] = []
        content.append(bigEndian: Self.program)
        content.append(bigEndian: 0xE000 | Self.mapPID)
        association = Self.body(table: 0, number: Self.streamID, content)

        content = []
        content.append(bigEndian: 0xE000 | Self.firstPID)  // PCR_PID
        content.append(bigEndian: 0xF000 as UInt16)  // program_info_length 0
        for (track, pid) in streams {
            let descriptors = track.coding.descriptors
            content.append(track.coding.streamType)
            content.append(bigEndian: 0xE000 | pid)
            content.append(bigEndian: 0xF000 | UInt16(clamping: descriptors.count))  // ES_info_length
            content += descriptors
        }
        map = Self.body(table: 2, number: Self.program, content)
    }

    /// - Parameter number: `transport_stream_id` or `program_number`.
    private static func body(table: UInt8, number: UInt16, _ content: [UInt8]) -> [UInt8] {
        var section: [UInt8] = [table]
        // What follows the length: five bytes, the content, the checksum.
        section.append(bigEndian: 0xB000 | UInt16(clamping: 5 + content.count + 4))
        section.append(bigEndian: number)
        section += [0xC1, 0, 0]  // version 0, in force; section 0 of 0
        section += content
        section.append(bigEndian: CRC32.checksum(section, initial: .max))
        let filling = TransportPacket.bodySize - 1 - section.count
        return [0] + section + repeatElement(TransportPacket.padding, count: max(0, filling))
    }
}

extension MediaTrack.Coding {
    /// `stream_type` (table 2-34).
    fileprivate var streamType: UInt8 {
        switch self {
        case .video(.h264): 0x1B
        case .video(.h265): 0x24
        case .opus: 0x06  // PES packets with private data
        case .aac: 0x0F  // ADTS
        }
    }

    /// Descriptors for streams whose type does not tell enough.
    fileprivate var descriptors: [UInt8] {
        switch self {
        case .video, .aac: []
        // A registration descriptor (2.6.8) of "Opus", then DVB's extension descriptor with the number of channels.
        case .opus(let parameters): [0x05, 4, 0x4F, 0x70, 0x75, 0x73, 0x7F, 2, 0x80, parameters.channels]
        }
    }
}
