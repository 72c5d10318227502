import HeliographAPI
package import Media
package import NIOCore
import Program
import Wire

/// The events that a viewer gets on its WebSocket besides pictures: one JSON object per message.
enum ViewerEvent {
    /// The version of the protocol in docs/reference/websocket.md.
    private static let version = 1
    /// The version of the messages that act on the screen.
    private static let controlVersion = 1

    @MediaLoop
    static func hello(_ session: Session) -> JSONValue {
        let request = session.request
        return [
            "type": "hello",
            "version": .integer(version),
            "release": .string(Release.current),
            "session": JSONValue(session.id),
            "device": .string(session.device.name),
            "label": JSONValue(request.label),
            "codec": .string(request.codec.rawValue),
            "fps": .integer(request.fps),
            "bitrate": .integer(request.bitrate),
            "repeat": .bool(request.repeat),
            "epoch": JSONValue(session.epoch),
            // Sound comes as Opus here.
            "tracks": list(session.stream.tracks.with(sound: .opus)),
        ]
    }

    /// Returns the event about what the encoder may take.
    static func target(_ target: EncoderTarget) -> JSONValue {
        [
            "type": "target", "adapt": .string(target.adapt.rawValue), "bitrate": .integer(target.bitrate),
            "fps": .integer(target.fps),
        ]
    }

    static func tracks(_ tracks: [MediaTrack]) -> JSONValue { ["type": "tracks", "tracks": list(tracks)] }

    private static func list(_ tracks: [MediaTrack]) -> JSONValue {
        .array(
            tracks.map { track in
                switch track.coding {
                case .video(let codec):
                    ["id": JSONValue(track.id), "kind": "video", "codec": .string(codec.rawValue)]
                case .opus(let parameters):
                    [
                        "id": JSONValue(track.id), "kind": "audio", "codec": "opus",
                        "channels": JSONValue(parameters.channels), "sampleRate": JSONValue(OpusParameters.sampleRate),
                    ]
                case .aac(let parameters):
                    [
                        "id": JSONValue(track.id), "kind": "audio", "codec": "aac",
                        "channels": JSONValue(parameters.channels), "sampleRate": JSONValue(SoundCodec.sampleRate),
                    ]
                }
            }
        )
    }

    static func feed(_ feed: String) -> JSONValue { ["type": "feed", "feed": .string(feed)] }

    static func size(_ header: UnitHeader) -> JSONValue {
        [
            "type": "size", "width": .integer(header.size.width), "height": .integer(header.size.height),
            "orientation": JSONValue(header.orientation), "geometry": JSONValue(header.geometry),
        ]
    }

    /// Returns the event about acting on the screen.
    ///
    /// - Parameters:
    ///   - why: Why the viewer may not act; `nil` if it may.
    ///   - controller: The caller that controls the device; `nil` for none.
    ///   - hasMicrophone: Whether callers can speak to the device.
    ///   - speaker: The caller that speaks; `nil` for none.
    ///   - wasTaken: Whether another caller has ended the viewer's control.
    static func control(
        why: String?,
        isMine: Bool,
        controller: String?,
        input: InputCapabilities?,
        hasMicrophone: Bool,
        speaker: String?,
        wasTaken: Bool
    ) -> JSONValue {
        [
            "type": "control", "version": .integer(controlVersion), "may": .bool(why == nil), "why": JSONValue(why),
            "mine": .bool(isMine), "controller": JSONValue(controller),
            "input": input.flatMap { try? JSONValue(encoding: InputDevicesReport($0)) } ?? .null,
            "microphone": .bool(hasMicrophone), "speaker": JSONValue(speaker),
            "ended": wasTaken ? "taken" : .null,
        ]
    }

    /// Returns the event for input that was not accepted.
    ///
    /// - Parameter count: How many messages were refused for this reason since the last such event.
    static func refused(_ reason: String, _ detail: String, count: Int) -> JSONValue {
        ["type": "refused", "reason": .string(reason), "detail": .string(detail), "count": .integer(count)]
    }

    /// Returns the event for a gap.
    ///
    /// - Parameter dropped: Pictures left out before the one that follows.
    static func resync(dropped: UInt64) -> JSONValue { ["type": "resync", "dropped": JSONValue(dropped)] }

    /// Returns the event before the relay closes the connection.
    static func end(_ reason: ViewerClosure) -> JSONValue { ["type": "end", "reason": .string(reason.rawValue)] }

    static func clock(id: JSONValue, now: UInt64) -> JSONValue {
        ["type": "clock", "id": id, "relay": JSONValue(now)]
    }
}

/// The message that carries an audio packet to a WebSocket; see docs/reference/websocket.md.
package enum SoundMessage {
    /// Bytes before the packet.
    package static let headByteCount = 28

    /// Returns the bytes before the packet.
    ///
    /// - Parameter relayed: When the relay received it, monotonic ns.
    package static func head(_ header: UnitHeader, relayed: UInt64) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(headByteCount)
        buffer.writeInteger(WebSocketMessageType.sound.rawValue)
        buffer.writeInteger(header.flags.rawValue)
        buffer.writeInteger(header.track)
        buffer.writeInteger(header.pts)
        buffer.writeInteger(header.captured)
        buffer.writeInteger(relayed)
        return buffer
    }
}

/// The message that carries an access unit to a WebSocket; see docs/reference/websocket.md.
package enum UnitMessage {
    /// Bytes before the access unit.
    package static let headByteCount = 36

    /// Returns the bytes before the access unit.
    ///
    /// - Parameter relayed: When the relay received the unit, monotonic ns.
    package static func head(_ header: UnitHeader, relayed: UInt64) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(headByteCount)
        buffer.writeInteger(WebSocketMessageType.accessUnit.rawValue)
        buffer.writeInteger(header.flags.rawValue)
        buffer.writeInteger(header.orientation)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(header.pts)
        buffer.writeInteger(header.captured)
        buffer.writeInteger(header.encodeEnd)
        buffer.writeInteger(relayed)
        return buffer
    }
}

/// What an encoder may take, and whom that follows.
struct EncoderTarget: Equatable {
    let adapt: Adaptation
    let bitrate, fps: Int
}
