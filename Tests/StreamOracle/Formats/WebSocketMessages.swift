package import Media

/// The messages to a viewer on a WebSocket: docs/reference/websocket.md.
package enum WebSocketMessages {
    package enum Message: Sendable {
        case text(String)
        case binary([UInt8])
    }

    /// - Parameter isMP4: Whether the pictures come as fragments of MP4.
    package static func recording(of messages: [Message], codec: Codec, isMP4: Bool) -> Recording {
        var recording = Recording()
        /// The last configuration: the parameter sets, or the initialization segment.
        var configuration: [UInt8]?
        for message in messages {
            let bytes: [UInt8]
            switch message {
            case .text(let text):
                if text.contains(#""type":"resync""#) { recording.resyncs += 1 }
                continue
            case .binary(let contents): bytes = contents
            }
            switch bytes.first {
            case 1:
                configuration = Self.configuration(bytes)
                if configuration == nil || isMP4 && !Fragments.isInitialization(configuration ?? []) {
                    recording.faults.append("Picture \(recording.pictures.count): its configuration cannot be read.")
                }
            case 2:
                guard let picture = picture(bytes, isMP4: isMP4) else {
                    recording.faults.append("Picture \(recording.pictures.count): its message cannot be read.")
                    return recording
                }
                let sets = ByteStream.units(in: picture.bytes).filter { codec.isParameterSet($0[0]) }
                if picture.isKeyframe == true, !isMP4, configuration.map(ByteStream.units(in:)) != sets {
                    recording.faults.append(
                        "Picture \(recording.pictures.count): the configuration has other parameter sets than the keyframe."
                    )
                }
                recording.pictures.append(picture)
            default: recording.faults.append("There is a message of type \(bytes.first ?? 0).")
            }
        }
        return recording
    }

    private static func configuration(_ message: [UInt8]) -> [UInt8]? {
        var bytes = Bytes(message)
        guard bytes.take(12) != nil, let length = bytes.number(2), bytes.take(length) != nil else { return nil }
        return bytes.rest()
    }

    private static func picture(_ message: [UInt8], isMP4: Bool) -> RecordedPicture? {
        var bytes = Bytes(message)
        guard let head = bytes.take(4), let pts = bytes.number(8), bytes.take(24) != nil else { return nil }
        let flags = head[1]
        let isSkip = flags & 4 != 0 && flags & 1 == 0
        guard isMP4 else {
            return RecordedPicture(bytes: bytes.rest(), pts: Int64(pts), isKeyframe: flags & 1 != 0, isSkip: isSkip)
        }
        guard var picture = Fragments.picture(fragment: bytes.rest()), picture.isKeyframe == (flags & 1 != 0) else {
            return nil
        }
        guard picture.pts == Int64(pts) else { return nil }
        picture.isSkip = isSkip
        return picture
    }
}
