import Media

/// Hand-written H.264 parameter sets and slice headers; the slices have no macroblocks.
struct H264Sample {
    var profile = 66
    var chromaFormat = 1
    var hasSeparateColourPlanes = false
    var pictureOrderType = 2
    var referenceFrames = 1
    var hasFieldOrder = false
    var sliceGroups = 1
    var hasRedundantPictures = false
    var pictureIDs = [0]
    var referenceIDC = 2
    /// 0: P, 1: B, 2: I, 3: SP.
    var sliceType = 0
    var activeReferences = 1
    /// `modification_of_pic_nums_idc` and its operand.
    var modification: (Int, Int)?
    var isLongTerm = false
    var hasMemoryOperations = false
    var firstMacroblock = 0
    var frameNumber = 1

    private func sequenceSet() -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x67)
        writer.u(24, profile << 16 | 30)
        writer.ue(0)
        if profile == 244 {
            writer.ue(chromaFormat)
            if chromaFormat == 3 { writer.flag(hasSeparateColourPlanes) }
            writer.ue(0)
            writer.ue(0)
            writer.flag(false)
            writer.flag(false)
        }
        writer.ue(0)  // log2_max_frame_num_minus4
        writer.ue(pictureOrderType)
        if pictureOrderType == 0 { writer.ue(0) }
        if pictureOrderType == 1 {
            writer.flag(true)
            for _ in 0..<3 { writer.ue(0) }
        }
        writer.ue(referenceFrames)
        writer.flag(false)
        writer.ue(3)
        writer.ue(2)
        writer.flag(true)
        writer.u(3, 0)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    private func pictureSet(_ id: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x68)
        writer.ue(id)
        writer.ue(0)
        writer.flag(false)
        writer.flag(hasFieldOrder)
        writer.ue(sliceGroups - 1)
        if sliceGroups > 1 { writer.ue(1) }
        writer.ue(0)
        writer.ue(0)
        writer.u(3, 0)
        for _ in 0..<3 { writer.se(0) }
        writer.u(2, 0)
        writer.flag(hasRedundantPictures)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    private func slice(isIDR: Bool) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, isIDR ? 0x65 : referenceIDC << 5 | 1)
        writer.ue(firstMacroblock)
        writer.ue(isIDR ? 2 : sliceType)
        writer.ue(pictureIDs[0])
        writer.u(4, isIDR ? 0 : frameNumber)
        if isIDR { writer.ue(0) }
        if pictureOrderType == 0 { writer.u(4, isIDR ? 0 : 2 * frameNumber) }
        if !isIDR, sliceType != 2 {
            if sliceType == 1 { writer.flag(true) }
            writer.flag(true)
            writer.ue(activeReferences - 1)
            if sliceType == 1 { writer.ue(0) }
            writer.flag(modification != nil)
            if let (operation, operand) = modification {
                writer.ue(operation)
                writer.ue(operand)
                writer.ue(3)
            }
        }
        if isIDR {
            writer.flag(false)
            writer.flag(isLongTerm)
        } else {
            writer.flag(hasMemoryOperations)
        }
        writer.u(16, 0x1234)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    var parameterSets: [UInt8] { sequenceSet() + pictureIDs.flatMap { pictureSet($0) } }
    var idr: [UInt8] { slice(isIDR: true) }
    var predicted: [UInt8] { slice(isIDR: false) }
}

/// Hand-written H.265 parameter sets and slice segment headers; the segments have no coding tree units.
struct H265Sample {
    var hasLongTermReferences = false
    var hasOutputFlag = false
    var sequenceExtensions = 0
    var distances = [-1]
    var activeReferences = 1
    var sliceType = 1
    var header = 1 << 9 | 1

    private func sequenceSet() -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, 33 << 9 | 1)
        writer.u(8, 1)
        // profile_tier_level
        for _ in 0..<3 { writer.u(32, 1 << 20) }
        for value in [0, 1, 64, 64] { writer.ue(value) }
        writer.flag(false)
        for value in [0, 0, 0] { writer.ue(value) }
        writer.flag(true)
        for value in [1, 0, 0] { writer.ue(value) }
        // Coding blocks of 8 in tree blocks of 16: 16 of these.
        for value in [0, 1, 0, 1, 0, 0] { writer.ue(value) }
        writer.u(4, 0)
        writer.ue(0)
        writer.flag(hasLongTermReferences)
        if hasLongTermReferences { writer.ue(0) }
        writer.u(3, 0)
        writer.flag(sequenceExtensions != 0)
        if sequenceExtensions != 0 { writer.u(8, sequenceExtensions) }
        writer.trailingBits()
        return writer.annexBUnit()
    }

    private func pictureSet() -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, 34 << 9 | 1)
        writer.ue(0)
        writer.ue(0)
        writer.flag(true)  // dependent_slice_segments_enabled_flag
        writer.flag(hasOutputFlag)
        writer.u(5, 0)
        for _ in 0..<3 { writer.ue(0) }
        writer.u(3, 0)
        writer.ue(0)
        writer.ue(0)
        writer.u(10, 0)
        writer.ue(0)
        writer.u(2, 0)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    var parameterSets: [UInt8] { sequenceSet() + pictureSet() }

    var idr: [UInt8] {
        var writer = BitWriter()
        writer.u(16, 19 << 9 | 1)
        writer.flag(true)
        writer.flag(false)
        writer.ue(0)
        writer.ue(2)
        writer.u(16, 0x1234)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    /// The first segment of a P picture.
    func predicted(pictureOrder: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, header)
        writer.flag(true)
        writer.ue(0)
        writer.ue(sliceType)
        writer.u(4, pictureOrder)
        writer.flag(false)
        writer.ue(distances.count)
        writer.ue(0)
        for (distance, last) in zip(distances, [0] + distances) {
            writer.ue(last - distance - 1)
            writer.flag(true)
        }
        writer.flag(true)
        writer.ue(activeReferences - 1)
        writer.u(16, 0x1234)
        writer.trailingBits()
        return writer.annexBUnit()
    }

    /// Returns a dependent segment that begins at tree block `address`, 1 to 15.
    func dependent(address: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, header)
        writer.flag(false)
        writer.ue(0)
        writer.flag(true)
        writer.u(4, address)
        writer.u(16, 0x1234)
        writer.trailingBits()
        return writer.annexBUnit()
    }
}
