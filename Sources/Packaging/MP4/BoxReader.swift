import Media

/// The types of the boxes that are read, four ASCII characters each.
enum BoxType: UInt32 {
    case fileType = 0x6674_7970  // ftyp
    case free = 0x6672_6565  // free
    case skip = 0x736B_6970  // skip
    case note = 0x7575_6964  // uuid
    case data = 0x6D64_6174  // mdat
    case movie = 0x6D6F_6F76  // moov
    case movieTrack = 0x7472_616B  // trak
    case movieTrackHeader = 0x746B_6864  // tkhd
    case movieExtends = 0x6D76_6578  // mvex
    case movieExtendsHeader = 0x6D65_6864  // mehd
    case movieHeader = 0x6D76_6864  // mvhd
    case edits = 0x6564_7473  // edts
    case editList = 0x656C_7374  // elst
    case media = 0x6D64_6961  // mdia
    case mediaHeader = 0x6D64_6864  // mdhd
    case handler = 0x6864_6C72  // hdlr
    case information = 0x6D69_6E66  // minf
    case table = 0x7374_626C  // stbl
    case descriptions = 0x7374_7364  // stsd
    case durations = 0x7374_7473  // stts
    case syncs = 0x7374_7373  // stss
    case chunkRuns = 0x7374_7363  // stsc
    case sizes = 0x7374_737A  // stsz
    case chunks = 0x636F_3634  // co64
    case avcConfiguration = 0x6176_6343  // avcC
    case hevcConfiguration = 0x6876_6343  // hvcC
    case streamDescriptor = 0x6573_6473  // esds
    case userData = 0x7564_7461  // udta
    case metadata = 0x6D65_7461  // meta
    case tagList = 0x696C_7374  // ilst
    case tagValue = 0x6461_7461  // data
    case titleTag = 0xA96E_616D  // ©nam
    case artistTag = 0xA941_5254  // ©ART
    case albumTag = 0xA961_6C62  // ©alb
    case trackTag = 0x7472_6B6E  // trkn
    case coverTag = 0x636F_7672  // covr
    case opus = 0x4F70_7573  // Opus
    case opusParameters = 0x644F_7073  // dOps
    case aac = 0x6D70_3461  // mp4a
    case movieFragment = 0x6D6F_6F66  // moof
    case track = 0x7472_6166  // traf
    case trackHeader = 0x7466_6864  // tfhd
    case decodeTime = 0x7466_6474  // tfdt
    case run = 0x7472_756E  // trun
}

extension ByteReader {
    /// The number of bytes before the payload of a box whose size has 32 bits.
    static var boxHeader: Int { 8 }

    /// Takes the next box. If it is not complete, takes nothing and returns `nil`.
    mutating func nextBox() -> (type: BoxType?, payload: ByteReader)? {
        var ahead = self
        guard let size = ahead.u32(), let type = ahead.u32(), size >= Self.boxHeader,
            let payload = ahead.take(Int(clamping: size) &- Self.boxHeader)
        else { return nil }
        self = ahead
        return (BoxType(rawValue: type), payload)
    }

    /// Returns the payload of the first box of that type.
    func box(_ wanted: BoxType) -> ByteReader? {
        var rest = self
        while let box = rest.nextBox() {
            if box.type == wanted { return box.payload }
        }
        return nil
    }

    /// Returns the payload of the box at the end of a path.
    func box(at path: BoxType...) -> ByteReader? {
        path.reduce(Optional(self)) { $0?.box($1) }
    }
}
