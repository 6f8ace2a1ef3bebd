package bench

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ThisMachine describes the machine that the program runs on.
func ThisMachine() Machine {
	return Machine{
		CPU:   cpuModel(),
		Cores: runtime.NumCPU(),
		Procs: runtime.GOMAXPROCS(0),
		Go:    runtime.Version(),
		OS:    runtime.GOOS,
		Arch:  runtime.GOARCH,
	}
}

// cpuModel returns the name of the processor, as far as the system says it.
func cpuModel() string {
	model := systemCPU()
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil && model == "" {
		model = cpuinfoModel(data)
	}
	if model == "" {
		model = os.Getenv("PROCESSOR_IDENTIFIER") // Windows
	}
	if model == "" {
		model = "unknown " + runtime.GOARCH
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(model, ""), func(r rune) bool {
		return r == ' ' || !unicode.IsPrint(r)
	}), " ")
}

// cpuinfoModel returns the model that Linux' /proc/cpuinfo names, "" if it names
// none, as for many ARM processors.
func cpuinfoModel(data []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model", "cpu model":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// A system is how much time the processors of the machine have spent.
type system struct {
	all, steal time.Duration
	known      bool
}

// readSystem reads it from Linux' /proc/stat.
func readSystem() system {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return system{}
	}
	return parseStat(string(data))
}

// parseStat reads the line
//
//	cpu  user nice system idle iowait irq softirq steal guest guest_nice
//
// of which guest is in user already. The unit does not matter, since all that is
// asked for is a ratio.
func parseStat(stat string) (s system) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return system{}
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return system{}
		}
		s.all += time.Duration(n)
		if i == 7 {
			s.steal = time.Duration(n)
		}
	}
	s.known = true
	return s
}

// unknown is the share of what could not be measured.
const unknown = -1

// noise says how quiet the run was.
func (r *runner) noise(before, after system) Noise {
	n := Noise{Disturbed: unknown, Busy: unknown, Steal: unknown}
	if r.possible > 0 {
		n.Busy = float64(r.cpu) / float64(r.possible)
		n.Disturbed = float64(r.disturbed) / float64(r.rounds)
	}
	if all := after.all - before.all; before.known && after.known && all > 0 {
		n.Steal = float64(after.steal-before.steal) / float64(all)
	}
	return n
}
