import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import Library
import LibraryAPI
import NIOCore

/// The options that select a library: that of a relay, or the connected one.
struct LibraryPlace: ParsableArguments {
    /// How long a relay may say nothing before it counts as lost.
    static let silence = Duration.seconds(10)
    /// Likewise while it may be making a copy of a large catalogue, after others.
    static let copyingSilence = Duration.seconds(60)

    @OptionGroup var options: RelayOptions

    /// The relay: the named one, else the connected one, else that of this machine.
    func target() throws -> RelayTarget {
        if let connected = try connected() { return connected.target }
        return try options.address.target()
    }

    /// Returns the connected library, if no other relay is named. A key of the command line goes before the kept one;
    /// the environment's may be for another relay.
    private func connected() throws -> ConnectedLibrary? {
        guard !options.address.isNamed else { return nil }
        return try ConnectedLibrary.load(showing: options.address.caller.keyOfCommandLine())
    }

    /// Runs `body` with the library's list: a copy that is up to date, the copy as it is if the relay cannot be
    /// reached, or the relay's own.
    func list(_ body: (LibraryList) async throws -> Void) async throws {
        guard let connected = try connected() else {
            return try await RelayClient.with(options.address) { try await body(.relay($0)) }
        }
        try await RelayClient.with(connected.target, silence: Self.copyingSilence) { client in
            do {
                try await connected.refresh(client)
            } catch let error as RelayError where error.isLossOfRelay {
                guard let copied = connected.copied else { throw error }
                fputs("heliograph: \(error)\nheliograph: this is the library as of \(copied.apiText)\n", stderr)
            } catch let error as RelayError where error.problem == .libraryUnavailable {
                // Its disk may have no room for a copy.
                return try await body(.relay(client))
            }
            try await body(.copy(try connected.copy()))
        }
    }
}

/// What lists a library's items.
enum LibraryList {
    case relay(RelayClient)
    case copy(CatalogueCopy)

    func page(_ query: LibraryQuery) async throws -> LibraryPage {
        switch self {
        case .relay(let client): return try await client.report(of: Routes.listLibrary, query)
        case .copy(let copy):
            let conditions = try CommandError.reporting { () throws(LibraryQueryFault) in try ItemQuery(query) }
            return LibraryPage(try CommandError.reporting { () throws(LibraryError) in try copy.items(conditions) })
        }
    }

    func item(_ id: String) async throws -> LibraryItem {
        switch self {
        case .relay(let client): return try await client.report(of: Routes.getLibraryItem, at: .item(id))
        case .copy(let copy):
            guard let number = Int64(id, radix: 10),
                let item = try CommandError.reporting({ () throws(LibraryError) in try copy.item(number) })
            else { throw CommandError.failed(CallPlace.item(id).absence ?? "there is no recording \(id)") }
            return LibraryItem(item)
        }
    }
}
