package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Lengths of a figure.
const (
	figureWidth = 560 * vg.Length(1)
	lineHeight  = 18 * vg.Length(1)
	textSize    = 10 * vg.Length(1)
)

// ink is what gonum/plot draws text and axes in. The SVG has the reader's text
// color in its place.
var ink = color.Black

// A canvas notes how wide each text is meant to be.
type canvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString is called for each text, in the order in which they are written.
func (c *canvas) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// render draws on a canvas and returns what was drawn as elements of SVG.
func render(w, h vg.Length, paint func(draw.Canvas)) ([]byte, error) {
	canvas := &canvas{Canvas: vgsvg.New(w, h)}
	paint(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	// The root is written by svg, which describes the figure there.
	_, content, ok := bytes.Cut(b.Bytes(), []byte("<g "))
	end := bytes.LastIndex(content, []byte("</svg>"))
	if !ok || end < 0 {
		return nil, fmt.Errorf("gonum/plot wrote %d bytes that are no SVG", b.Len())
	}
	content = append([]byte("<g "), content[:end]...)
	// Readers without our font keep to the room that there is for a text.
	texts := bytes.Split(content, []byte("<text "))
	for i, width := range canvas.widths {
		texts[i+1] = fmt.Appendf(nil, `<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s`, float64(width), texts[i+1])
	}
	content = bytes.Join(texts, nil)
	// Fills in ink have no color of their own, so they take the root's; strokes
	// have, since the default of those is none.
	return bytes.ReplaceAll(content, []byte("stroke:#000000"), []byte("stroke:currentColor")), nil
}

// svg returns the figure as an element. A file of its own brings its colors; in a
// page they are the page's.
func (f *Figure) svg(id string, alone bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-labelledby="%s-title %s-text" fill="currentColor" font-size="%g">`+"\n",
		float64(f.width), float64(f.height), id, id, float64(textSize))
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-text\">%s</desc>\n",
		id, html.EscapeString(f.Title), id, html.EscapeString(f.Text))
	if alone {
		b.WriteString("<style>" + svgStyle + "svg{color:#1b1f24;background:#fff}" +
			"@media (prefers-color-scheme:dark){svg{color:#e6e8eb;background:#14181d}}</style>\n")
	}
	b.Write(f.content)
	b.WriteString("</svg>\n")
	return b.String()
}

// svgStyle names fonts as wide as Liberation Sans, by which texts are placed.
const svgStyle = `svg text{font-family:"Liberation Sans",Arimo,Arial,Helvetica,sans-serif!important}`

// newPlot returns a plot with our sizes and no background.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = ink, ink
		axis.Label.TextStyle.Font = textFont()
		axis.Label.Padding = textSize / 2
		axis.Tick.Label.Font = textFont()
		axis.Tick.Length = textSize / 2
	}
	return p
}

func textFont() font.Font {
	f := font.From(plot.DefaultFont, textSize)
	f.Variant = "Sans"
	return f
}
