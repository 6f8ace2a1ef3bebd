// Package live serves a page on which to watch an engine count:
//
//	page, err := live.New(engine, live.Options{})
//	…
//	mux.Handle("/debug/hotcount/", http.StripPrefix("/debug/hotcount", page))
//	server.RegisterOnShutdown(page.Close)
//
// It shows the busiest series with their totals, rates, windows and stripes,
// distinct counts with their error bounds, windows without a counter, the state
// of export, and the engine's own series. A search runs on the server, over all
// series; only what is shown is sent. The page needs nothing but its server: no
// font, script or style comes from elsewhere.
//
// # Who may look
//
// The page has no login. It answers GET and HEAD only, and changes nothing. It
// refuses requests that a browser may have been tricked into:
//
//   - Host must be a loopback name or address, the address that the connection
//     came in on, or one of Options.Hosts. A stranger's page whose name was
//     made to resolve to this machine (DNS rebinding) has another Host.
//   - Origin, if there is one, must be that of the page or one of
//     Options.Hosts; Sec-Fetch-Site must not tell of another site, unless a
//     link is being followed.
//
// This keeps out other sites, not other users: put it on a loopback or private
// listener, or behind a handler that knows who asks. Label values, errors and
// names of sinks are shown to whoever may look; passwords in addresses are left
// out.
//
// Behind a reverse proxy, let the page's path end in a slash, as its parts have
// relative addresses. If the proxy passes on the Host that it was asked for,
// name it in Options.Hosts.
//
// # What it costs
//
// Nothing while nobody looks. Else one Engine.View at each update, whoever looks
// and however many, and about 150 bytes for each series. An update takes 130 ns
// for each of 10,000 series, several times that where a million no longer fit
// the caches, and a search about as long again. Updates come further apart when
// they would take more than a twentieth of a core's time, and so do answers to
// new searches. A browser whose page is hidden does not look.
package live
