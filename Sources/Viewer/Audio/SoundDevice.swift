import CSDL

/// SDL's devices for sound: 48,000 samples a second and channel, as 32-bit floats.
enum SoundDevice {
    enum Direction: Int32 {
        case plays = 0
        case records
    }

    /// Opens a device, and starts it.
    ///
    /// - Parameters:
    ///   - name: `nil` for the desktop's default.
    ///   - samples: How many samples of a channel SDL takes or gives at once.
    ///   - owner: What `callback` gets, unretained. It must close the device before it goes.
    ///   - callback: Is called in SDL's thread.
    /// - Returns: SDL's number of the device, for `SDL_CloseAudioDevice`.
    static func open(
        _ direction: Direction,
        named name: String? = nil,
        channels: UInt8,
        samples: UInt16,
        owner: AnyObject,
        callback: @escaping SDL_AudioCallback
    ) throws(ViewerError) -> UInt32 {
        let deed = direction == .plays ? "cannot play sound" : "cannot record sound"
        guard SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else { throw .ofSDL(deed) }
        var wanted = SDL_AudioSpec()
        (wanted.freq, wanted.format) = (48_000, SDL_AudioFormat(AUDIO_F32SYS))
        (wanted.channels, wanted.samples, wanted.callback) = (channels, samples, callback)
        wanted.userdata = Unmanaged.passUnretained(owner).toOpaque()
        let device = SDL_OpenAudioDevice(name, direction.rawValue, &wanted, nil, 0)
        guard device != 0 else { throw .ofSDL(deed + (name.map { " on \($0)" } ?? "")) }
        SDL_PauseAudioDevice(device, 0)
        return device
    }
}
