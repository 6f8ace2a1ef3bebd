package live

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hotcount/hotcount/internal/safetext"
)

// The page must not be read by another site's script in the user's browser. Such
// a script cannot choose what the browser says in Host, Origin and
// Sec-Fetch-Site, so these are what refuse looks at. X-Forwarded headers prove
// nothing and are not looked at.

// refuse returns why a request is refused, "" if it is not.
func (p *Page) refuse(r *http.Request) string {
	if !p.knownHost(r) {
		return fmt.Sprintf("The host %s is not known here. If it is right, add it to Options.Hosts of hotcount's live page.", safetext.Printable(fmt.Sprintf("%q", r.Host), maxText))
	}
	if !p.ownOrigin(r) {
		return "The request comes from a page of another origin."
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
		return ""
	}
	if followsLink(r.Header) {
		return ""
	}
	return "The request comes from a page of another site."
}

// knownHost reports whether the client asked for a host by one of our names: its
// own name would mean that it was made to resolve to us.
func (p *Page) knownHost(r *http.Request) bool {
	host, ok := hostName(r.Host)
	if !ok {
		return false
	}
	if p.hosts[host] || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return ip.IsLoopback() || ip == localIP(r)
}

// localIP returns the address that the connection came in on.
func localIP(r *http.Request) netip.Addr {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return local.AddrPort().Addr().Unmap().WithZone("")
}

// ownOrigin reports whether the request comes from the page itself, as far as
// its Origin says.
func (p *Page) ownOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	if err != nil || origin.Host == "" || len(origins) > 1 {
		return false // "null" has no host
	}
	if strings.EqualFold(origin.Host, r.Host) {
		return true
	}
	host, ok := hostName(origin.Host)
	return ok && p.hosts[host]
}

// followsLink reports whether the user's browser goes to the page, to show it by
// itself: a link in a chat or a wiki is welcome.
func followsLink(h http.Header) bool {
	return h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document"
}

// hostName returns the name or the address in a Host header, without its port
// and in its normal form. It reports false if there is none.
func hostName(hostport string) (string, bool) {
	u := url.URL{Host: normalHost(hostport)}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if host == "" || strings.ContainsAny(host, "/\\@?#%* \t[]") {
		return "", false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host, !strings.Contains(host, ":")
	}
	return ip.Unmap().String(), true
}

// normalHost puts an IPv6 address without brackets into some.
func normalHost(h string) string {
	h = strings.ToLower(h)
	if ip, err := netip.ParseAddr(h); err == nil && ip.Is6() {
		return "[" + h + "]"
	}
	return h
}
