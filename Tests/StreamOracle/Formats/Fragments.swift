import TestSupport

/// Fragmented MP4: ISO/IEC 14496-12 and 14496-15.
package enum Fragments {
    /// A stream that begins with its initialization segment.
    ///
    /// - Parameter isWhole: Whether the relay ended the stream, so that nothing may be cut off.
    package static func recording(of bytes: [UInt8], isWhole: Bool) -> Recording {
        var recording = Recording()
        let (boxes, endsWhole) = Box.leadingBoxes(bytes)
        if isWhole, !endsWhole { recording.faults.append("The last box is cut off.") }
        guard !boxes.isEmpty else { return recording }
        guard boxes.prefix(2).map(\.type) == Array(["ftyp", "moov"].prefix(boxes.count)) else {
            recording.faults.append("The stream begins with \(boxes.prefix(2).map(\.type)).")
            return recording
        }
        var fragment: Box?
        for box in boxes.dropFirst(2) {
            switch (box.type, fragment) {
            case ("moof", nil): fragment = box
            case ("mdat", let moof?):
                fragment = nil
                guard let picture = picture(moof, box) else {
                    recording.faults.append("Picture \(recording.pictures.count): its fragment cannot be read.")
                    return recording
                }
                recording.pictures.append(picture)
            default: recording.faults.append("Picture \(recording.pictures.count): there is a box \(box.type).")
            }
        }
        return recording
    }

    /// The picture of a fragment, `moof` and `mdat`; nil if it is not one picture.
    static func picture(fragment bytes: [UInt8]) -> RecordedPicture? {
        guard let boxes = Box.boxes(bytes), boxes.map(\.type) == ["moof", "mdat"] else { return nil }
        return picture(boxes[0], boxes[1])
    }

    /// Whether the bytes are an initialization segment, which holds the parameter sets.
    static func isInitialization(_ bytes: [UInt8]) -> Bool {
        Box.boxes(bytes)?.map(\.type) == ["ftyp", "moov"]
    }

    private static func picture(_ moof: Box, _ mdat: Box) -> RecordedPicture? {
        guard let track = moof["traf"], let time = track["tfdt"], let run = track["trun"],
            let pts = decodeTime(time.payload), let sample = sample(run.payload), sample.size == mdat.payload.count
        else { return nil }
        var (contents, units) = (Bytes(mdat.payload), [[UInt8]]())
        while !contents.isAtEnd {
            guard let size = contents.number(4), size > 0, let unit = contents.take(size) else { return nil }
            units.append(unit)
        }
        return RecordedPicture(bytes: ByteStream.joined(units), pts: pts, isKeyframe: sample.isKeyframe)
    }

    /// `baseMediaDecodeTime` of a `tfdt` of version 1.
    private static func decodeTime(_ payload: [UInt8]) -> Int64? {
        var bytes = Bytes(payload)
        guard bytes.number(4) == 1 << 24 else { return nil }
        return bytes.number(8).map(Int64.init)
    }

    /// The one sample of a `trun`.
    private static func sample(_ payload: [UInt8]) -> (size: Int, isKeyframe: Bool)? {
        var bytes = Bytes(payload)
        guard let flags = bytes.number(4), bytes.number(4) == 1 else { return nil }
        // data_offset, first_sample_flags
        if flags & 1 != 0 { _ = bytes.number(4) }
        let first = flags & 4 != 0 ? bytes.number(4) : nil
        if flags & 0x100 != 0 { _ = bytes.number(4) }
        guard flags & 0x200 != 0, let size = bytes.number(4) else { return nil }
        let own = flags & 0x400 != 0 ? bytes.number(4) : first
        // sample_is_non_sync_sample
        return own.map { (size, $0 & 0x10000 == 0) }
    }
}
