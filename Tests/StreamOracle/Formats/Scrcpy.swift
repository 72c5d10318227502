/// The packets of a session's port in scrcpy framing.
package enum Scrcpy {
    /// - Parameter isWhole: Whether the relay ended the stream, so that nothing may be cut off.
    package static func recording(of bytes: [UInt8], isWhole: Bool) -> Recording {
        var recording = Recording()
        var bytes = Bytes(bytes)
        var parameterSets: [UInt8]?
        while !bytes.isAtEnd {
            guard let head = bytes.number(8), let size = bytes.number(4), let contents = bytes.take(size) else {
                if isWhole { recording.faults.append("The last packet is cut off.") }
                break
            }
            let word = UInt64(bitPattern: Int64(head))
            if word >> 63 == 1 {
                if parameterSets != nil { recording.faults.append("Parameter sets follow parameter sets.") }
                parameterSets = contents
                continue
            }
            let isKeyframe = word >> 62 & 1 == 1
            if isKeyframe != (parameterSets != nil) {
                recording.faults.append(
                    "Picture \(recording.pictures.count): parameter sets come before keyframes only."
                )
            }
            let pts = Int64(word & (1 << 62 - 1))
            recording.pictures.append(
                RecordedPicture(bytes: (parameterSets ?? []) + contents, pts: pts, isKeyframe: isKeyframe)
            )
            parameterSets = nil
        }
        return recording
    }
}
