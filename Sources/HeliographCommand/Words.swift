import ArgumentParser
import HeliographAPI
import Media
import Wire

// Words of the API as arguments of the command.
extension Join: ExpressibleByArgument {}
extension WaitQuery.Goal: ExpressibleByArgument {}
extension SourceKind: ExpressibleByArgument {}

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
