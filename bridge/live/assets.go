package live

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"time"
)

//go:embed assets
var assets embed.FS

// contentSecurityPolicy lets the page load only its own files, run no script
// from its text, and make no markup from strings.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

const pageAsset = "page.html"

// contentTypes has the files of the page; the system's table of types, which
// may lack or change some, is not asked.
var contentTypes = map[string]string{
	pageAsset:  "text/html; charset=utf-8",
	"page.css": "text/css; charset=utf-8",
	"page.js":  "text/javascript; charset=utf-8",
	"draw.js":  "text/javascript; charset=utf-8",
	"icon.svg": "image/svg+xml",
}

func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = pageAsset
	}
	contentType, ok := contentTypes[name]
	if !ok {
		http.Error(w, "There is no such page.", http.StatusNotFound)
		return
	}
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(content)
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache") // a newer program has newer files
	h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
