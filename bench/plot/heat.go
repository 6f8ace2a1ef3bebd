package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hotcount/hotcount/bench/internal/show"
)

// A table is the values of a heat map. A cell without a value is NaN.
type table struct {
	columns, rows []string // from left and from below
	cells         [][]float64
}

func newTable(columns, rows []string) *table {
	t := &table{columns, rows, make([][]float64, len(rows))}
	for r := range t.cells {
		t.cells[r] = make([]float64, len(columns))
		for c := range t.cells[r] {
			t.cells[r][c] = math.NaN()
		}
	}
	return t
}

// The methods that make it a plotter.GridXYZ.
func (t *table) Dims() (c, r int)   { return len(t.columns), len(t.rows) }
func (t *table) Z(c, r int) float64 { return t.cells[r][c] }
func (t *table) X(c int) float64    { return float64(c) }
func (t *table) Y(r int) float64    { return float64(r) }

// cellColors is a scale that gets darker, for those who see no colors, too.
const cellColors = "YlGnBu"

// draw draws the table with the values in its cells, if they fit. Colors go from
// zero to the largest value.
func (t *table) draw(x, y string) (content []byte, height vg.Length, err error) {
	scale, err := brewer.GetPalette(brewer.TypeSequential, cellColors, 9)
	if err != nil {
		return nil, 0, err
	}
	p := newPlot(x, y)
	heat := plotter.NewHeatMap(t, scale)
	heat.Min = 0
	if !(heat.Max > 0) {
		heat.Max = 1 // any color will do
	}
	p.Add(heat)
	const labelled = 16 // columns, in which a value fits
	if len(t.columns) <= labelled {
		labels, err := t.labels(heat)
		if err != nil {
			return nil, 0, err
		}
		p.Add(labels)
	}
	nominal(&p.X, t.columns)
	nominal(&p.Y, t.rows)
	p.X.Padding, p.Y.Padding = 0, 0
	height = max(120, lineHeight*vg.Length(len(t.rows)+3))
	content, err = render(figureWidth, height, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, -textSize, 0, -textSize/2))
	})
	return content, height, err
}

// nominal gives each whole number on an axis a name, as many as there is room for.
func nominal(axis *plot.Axis, names []string) {
	const room = 40
	step := (len(names)-1)/room + 1
	var ticks plot.ConstantTicks
	for i := 0; i < len(names); i += step {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: names[i]})
	}
	axis.Tick.Marker = ticks
	axis.Tick.Length = 0
	axis.LineStyle.Width = 0
}

// labels are the values in the middle of the cells, in black or white.
func (t *table) labels(heat *plotter.HeatMap) (*plotter.Labels, error) {
	colors := heat.Palette.Colors()
	var at plotter.XYLabels
	var styles []text.Style
	for r, row := range t.cells {
		for c, v := range row {
			if math.IsNaN(v) {
				continue
			}
			at.XYs = append(at.XYs, plotter.XY{X: float64(c), Y: float64(r)})
			at.Labels = append(at.Labels, show.Short(v))
			cell := colors[int(v/heat.Max*float64(len(colors)-1)+0.5)]
			styles = append(styles, text.Style{
				Color: readableOn(cell), Font: textFont(), Handler: plot.DefaultTextHandler,
				XAlign: text.XCenter, YAlign: text.YCenter,
			})
		}
	}
	labels, err := plotter.NewLabels(at)
	if err != nil {
		return nil, err
	}
	labels.TextStyle = styles
	return labels, nil
}

// nearBlack is not quite ink, which is white for those who like it dark. Cells
// have the same colors for everybody.
var nearBlack = color.RGBA{0x10, 0x10, 0x10, 0xFF}

func readableOn(cell color.Color) color.Color {
	if contrast(nearBlack, cell) > contrast(color.White, cell) {
		return nearBlack
	}
	return color.White
}

// contrast returns the contrast ratio of two colors as the Web Content
// Accessibility Guidelines define it.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		f := float64(v) / 0xFFFF
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
