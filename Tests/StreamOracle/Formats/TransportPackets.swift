import TestSupport

/// The MPEG transport stream: ISO/IEC 13818-1.
package enum TransportPackets {
    private static let size = 188
    private static let videoPID: UInt16 = 0x100

    /// - Parameter isWhole: Whether the relay ended the stream, so that nothing may be cut off.
    package static func recording(of stream: [UInt8], isWhole: Bool) -> Recording {
        var recording = Recording()
        if isWhole, stream.count % size != 0 { recording.faults.append("The last packet is cut off.") }
        var counters: [UInt16: UInt8] = [:]
        var unit: (bytes: [UInt8], isRandomAccess: Bool)?
        func finish() {
            guard let ended = unit else { return }
            guard let picture = picture(ended.bytes, isRandomAccess: ended.isRandomAccess) else {
                return recording.faults.append("Picture \(recording.pictures.count): its packets cannot be read.")
            }
            recording.pictures.append(picture)
        }
        for place in stride(from: 0, through: stream.count - size, by: size) {
            guard let packet = ParsedPacket(stream[place..<(place + size)]) else {
                recording.faults.append("The packet at byte \(place) cannot be read.")
                break
            }
            if let last = counters[packet.pid], !packet.isDiscontinuity {
                // A packet without payload repeats the counter.
                let expected = packet.payload == nil ? last : (last + 1) % 16
                if packet.continuity != expected {
                    recording.faults.append(
                        "Picture \(recording.pictures.count): the counter of PID \(packet.pid) is \(packet.continuity) instead of \(expected)."
                    )
                }
            }
            counters[packet.pid] = packet.continuity
            guard packet.pid == videoPID, let payload = packet.payload else { continue }
            if packet.startsUnit {
                finish()
                unit = (payload, packet.isRandomAccess)
            } else if unit == nil {
                recording.faults.append("The stream begins within a picture.")
            } else {
                unit?.bytes += payload
            }
        }
        // If the viewer left the stream, its last picture may be cut off.
        if isWhole { finish() }
        return recording
    }

    /// The access unit and the PTS of a PES packet.
    private static func picture(_ packet: [UInt8], isRandomAccess: Bool) -> RecordedPicture? {
        guard packet.count > 14, packet.starts(with: [0, 0, 1, 0xE0]), packet[7] & 0x80 != 0 else { return nil }
        let told = Int(packet[4]) << 8 | Int(packet[5])
        guard told == 0 || told == packet.count - 6 else { return nil }
        let field = packet[9...].prefix(5).map(Int64.init)
        let pts =
            (field[0] >> 1 & 7) << 30 | field[1] << 22 | (field[2] >> 1) << 15 | field[3] << 7 | field[4] >> 1
        let contents = Array(packet[(9 + Int(packet[8]))...])
        return RecordedPicture(bytes: contents, pts: pts, isKeyframe: isRandomAccess)
    }
}
