/// The check whether pictures can be inserted into an H.265 stream.
enum H265Admission {
    /// The `payloadType` of messages that time or count pictures (D.2.1): buffering period, picture timing, recovery
    /// point, structure of pictures, decoding unit information, temporal sub-layer zero index.
    private static let countingMessages: Set = [0, 1, 6, 128, 130, 131]

    static func admit(_ set: H265VideoParameterSet) throws(RepeatRefusal) {
        guard !set.timesPictures else { throw .timing }
    }

    static func admit(_ sequence: H265SequenceParameterSet) throws(RepeatRefusal) {
        guard !sequence.isFieldSequence else { throw .interlaced }
        guard !sequence.hasSeparateColourPlanes else { throw .separateColourPlanes }
        guard !sequence.hasLongTermReferences else { throw .longTermReference }
        guard !sequence.timesPictures else { throw .timing }
        guard !sequence.hasExtensions else { throw .layersOrExtensions }
    }

    static func admit(_ picture: H265PictureParameterSet) throws(RepeatRefusal) {
        guard !picture.hasOutputFlag else { throw .hiddenPictures }
        guard !picture.hasExtensions else { throw .layersOrExtensions }
    }

    /// Checks that a slice references at most the last two pictures.
    ///
    /// A skip picture keeps only its own reference, the picture before it. So after any picture other than an IDR
    /// picture, the decoder has only the last picture and the one before it.
    static func admit(_ slice: H265SliceHeader.Slice) throws(RepeatRefusal) {
        guard slice.kind != .b else { throw .bidirectional }
        guard !slice.hasTemporalMotion else { throw .temporalMotion }
        guard !slice.modifiesList else { throw .listModification }
        let distances = slice.references.map(\.distance)
        guard distances.count <= 2, zip(distances, [-1, -2]).allSatisfy(==) else { throw .referencePictureSet }
        if slice.kind == .p {
            guard slice.activeReferences == 1 else { throw .severalActiveReferences }
            guard slice.references.first?.isUsed == true else { throw .referencePictureSet }
        }
    }

    static func admit(information unit: ArraySlice<UInt8>) throws(RepeatRefusal) {
        let types = SupplementalInformation.payloadTypes(unit: unit, headerWidth: 16)
        guard countingMessages.isDisjoint(with: types) else { throw .timing }
    }
}
