package plot

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// lineColors stand out from white and from near-black, by a contrast of 3 at
// least. Shapes tell lines apart for those who see no colors, and where the
// colors begin again.
var lineColors = []color.RGBA{
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0x00, 0x95, 0x6C, 0xFF}, // green
	{0x8C, 0x6B, 0xB1, 0xFF}, // violet
	{0xA6, 0x7C, 0x00, 0xFF}, // gold
	{0xBD, 0x5B, 0x92, 0xFF}, // pink
	{0x7F, 0x7F, 0x7F, 0xFF}, // grey
	{0x25, 0x8F, 0x98, 0xFF}, // teal
	{0xA6, 0x56, 0x28, 0xFF}, // brown
}

var lineShapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
	draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

// A line is the speed of one implementation by goroutines.
type line struct {
	name   string
	points map[int]bench.Summary
}

// linesOf returns a line for each implementation that lays its counters out by
// itself, in the order in which they appear.
func linesOf(s set) []line {
	var lines []line
	at := make(map[string]int)
	for _, r := range s.results {
		if r.Stripes != 0 {
			continue
		}
		name := printable(r.Impl)
		n, ok := at[name]
		if !ok {
			n = len(lines)
			at[name] = n
			lines = append(lines, line{name, make(map[int]bench.Summary)})
		}
		lines[n].points[r.Goroutines], _ = speed(r)
	}
	return lines
}

// throughputFigure draws operations per second against goroutines, if there is
// more than one number of those.
func throughputFigure(s set) ([]Figure, error) {
	lines := linesOf(s)
	counts := make(map[int]bool)
	for _, l := range lines {
		for g := range l.points {
			counts[g] = true
		}
	}
	if len(counts) < 2 {
		return nil, nil
	}
	goroutines := slices.Sorted(maps.Keys(counts))
	p := newPlot("goroutines", "million operations per second")
	p.X.Tick.Marker = goroutineTicks(goroutines)
	p.Add(grid())
	legend := plot.NewLegend()
	legend.Left, legend.Top = true, true
	legend.TextStyle.Font = textFont()
	legend.Padding = textSize / 2
	for i := range lines {
		if err := lines[i].draw(p, &legend, i); err != nil {
			return nil, err
		}
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.05
	p.Y.Tick.Marker = plot.TickerFunc(evenTicks)
	height := max(300, lineHeight*vg.Length(len(lines)+2))
	const legendWidth = 120
	content, err := render(figureWidth, height, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 0, -legendWidth, 0, -textSize/2))
		legend.Draw(draw.Crop(c, figureWidth-legendWidth+textSize, 0, 0, -textSize/2))
	})
	return []Figure{{
		Workload: s.workload,
		Title:    "Operations per second by goroutines: " + s.String(),
		Text:     throughputText(lines, goroutines),
		width:    figureWidth, height: height, content: content,
	}}, err
}

// goroutineTicks places numbers of goroutines by their logarithm.
func goroutineTicks(goroutines []int) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(goroutines))
	for i, g := range goroutines {
		ticks[i] = plot.Tick{Value: math.Log2(float64(g)), Label: grouped(g)}
	}
	return ticks
}

// evenTicks are five or so from 0, at steps of 1, 2 or 5 times a power of ten.
func evenTicks(_, most float64) []plot.Tick {
	const wanted = 5
	power := math.Pow10(int(math.Floor(math.Log10(most / wanted))))
	step := power
	for _, times := range []float64{2, 5, 10} {
		if most/step > wanted+1 {
			step = power * times
		}
	}
	var ticks []plot.Tick
	for i := 0; float64(i)*step <= most; i++ {
		v := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return ticks
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	faint := color.NRGBA{0x80, 0x80, 0x80, 0x50}
	g.Horizontal.Color, g.Vertical.Color = faint, faint
	return g
}

// draw adds the i-th line to a plot: medians, and bars between the quartiles.
func (l *line) draw(p *plot.Plot, legend *plot.Legend, i int) error {
	var medians struct {
		plotter.XYs
		plotter.YErrors
	}
	for _, g := range slices.Sorted(maps.Keys(l.points)) {
		s := l.points[g]
		medians.XYs = append(medians.XYs, plotter.XY{X: math.Log2(float64(g)), Y: s.Median})
		medians.YErrors = append(medians.YErrors, struct{ Low, High float64 }{s.Median - s.Low, s.High - s.Median})
	}
	path, points, err := plotter.NewLinePoints(medians.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(medians)
	if err != nil {
		return err
	}
	c := lineColors[i%len(lineColors)]
	path.Color, points.Color, bars.Color = c, c, c
	path.Width = 1.25
	if i == 0 {
		path.Width = 2.5
	}
	bars.CapWidth = textSize / 2
	points.Shape = lineShapes[i%len(lineShapes)]
	points.Radius = 3.5
	p.Add(path, bars, points)
	legend.Add(l.name, path, points)
	return nil
}

// throughputText says which lines are the highest and the lowest at each number
// of goroutines.
func throughputText(lines []line, goroutines []int) string {
	text := "Medians, and bars between the quartiles; higher is faster."
	for _, g := range goroutines {
		var top, low string
		var most, least float64
		for _, l := range lines {
			s, ok := l.points[g]
			if !ok {
				continue
			}
			if top == "" || s.Median > most {
				top, most = l.name, s.Median
			}
			if low == "" || s.Median < least {
				low, least = l.name, s.Median
			}
		}
		text += fmt.Sprintf(" At %s: %s %s", count(g, "goroutine"), top, show.Short(most))
		if low != top {
			text += fmt.Sprintf(" to %s %s", low, show.Short(least))
		}
		text += " million per second."
	}
	return text
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}
