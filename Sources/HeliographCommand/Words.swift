import ArgumentParser
import HeliographAPI
import Media

// The API's words as command line arguments.
extension Join: ExpressibleByArgument {}
extension RecordWhen: ExpressibleByArgument {}
extension Adaptation: ExpressibleByArgument {}
extension ChromaSampling: ExpressibleByArgument {}
extension ScreenWait.Goal: ExpressibleByArgument {}
extension ActionsRequest.MouseButton: ExpressibleByArgument {}
extension Framing: ExpressibleByArgument {}
extension SoundCodec: ExpressibleByArgument {}

extension Codec: ExpressibleByArgument {
    package init?(argument: String) { self.init(named: argument) }
}

extension SessionChange.Bound: ExpressibleByArgument {
    package init?(argument: String) {
        if argument == "source" {
            self = .becomes(nil)
        } else if let value = Int(argument) {
            self = .becomes(value)
        } else {
            return nil
        }
    }
}
