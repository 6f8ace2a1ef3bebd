package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// runGo compiles a go block with the workspace's packages and runs it. Its source lies
// outside the tree: the go command resolves the imports of a named file from where it
// is called.
func runGo(file string, b block, timeout time.Duration) (stdout string, err error) {
	src, err := program(b.text, fmt.Sprintf("//line %s:%d\n", file, b.line), packages)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp("", "readmecheck")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	mainGo, exe, empty := filepath.Join(tmp, "main.go"), filepath.Join(tmp, "snippet"), filepath.Join(tmp, "empty")
	if err := os.WriteFile(mainGo, []byte(src), 0o600); err != nil {
		return "", err
	}
	if err := os.Mkdir(empty, 0o700); err != nil {
		return "", err
	}
	if _, err := output(timeout, ".", "go", "build", "-o", exe, mainGo); err != nil {
		return "", err
	}
	switch option, value, _ := strings.Cut(b.option, "="); {
	case option == "serve":
		return "", serve(timeout, empty, exe, value)
	case option == "compile", option == "needs" && os.Getenv(value) == "":
		return "", nil
	case option == "needs", option == "":
		return output(timeout, empty, exe)
	}
	return "", fmt.Errorf("unknown option %q: use compile, needs=VARIABLE or serve=URL", b.option)
}

// serve runs a program that serves until it is interrupted, and asks it for url.
func serve(timeout time.Duration, dir, exe, url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := command(ctx, dir, exe)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended before %s answered: %v\n%s", url, err, &stderr)
		case <-time.After(pause):
		}
		response, err := http.Get(url)
		if err != nil {
			continue
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s answered %s", url, response.Status)
		}
		cmd.Process.Signal(os.Interrupt)
		<-ended
		return err
	}
}

// pause is between two tries to reach a server that may not listen yet.
const pause = 50 * time.Millisecond

// program makes a whole program of a snippet. The position, a //line directive, goes
// before the snippet's text so that the compiler speaks of the README's lines; index
// gives the import paths that a package name may stand for.
func program(text, position string, index func() (map[string][]string, error)) (string, error) {
	fset := token.NewFileSet()
	text = position + text
	if _, err := parser.ParseFile(fset, "", text, parser.PackageClauseOnly); err == nil {
		return text, nil
	}
	file, err := parser.ParseFile(fset, "", "package main\n"+text, 0)
	if err != nil {
		text = "func main() {\n" + text + "}\n"
		if file, err = parser.ParseFile(fset, "", "package main\n"+text, 0); err != nil {
			return "", fmt.Errorf("neither a program, declarations, nor the body of main: %w", err)
		}
	}
	if file.Scope.Lookup("main") == nil {
		text += "\nfunc main() {}\n"
	}
	imports, err := missingImports(file, index)
	return "package main\n" + imports + text, err
}

// missingImports returns import lines for the packages that file uses. A file with
// imports of its own is taken as it is.
func missingImports(file *ast.File, index func() (map[string][]string, error)) (string, error) {
	if len(file.Imports) > 0 {
		return "", nil
	}
	known, err := index()
	if err != nil {
		return "", err
	}
	var imports strings.Builder
	for _, name := range slices.Sorted(maps.Keys(qualifiers(file))) {
		switch paths := known[name]; len(paths) {
		case 0: // not a package: the compiler says what it thinks of it
		case 1:
			fmt.Fprintf(&imports, "import %q\n", paths[0])
		default:
			return "", fmt.Errorf("%s may be any of %s: write a whole program with its imports", name, strings.Join(paths, ", "))
		}
	}
	return imports.String(), nil
}

// qualifiers returns the names that file uses as x in x.y and does not declare.
func qualifiers(file *ast.File) map[string]bool {
	undeclared := map[*ast.Ident]bool{}
	for _, id := range file.Unresolved {
		undeclared[id] = true
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && undeclared[id] {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}

// packages maps each package name of the standard library and the workspace to its
// import paths.
var packages = sync.OnceValues(func() (map[string][]string, error) {
	list, err := output(time.Minute, ".", "go", "list", "-f", "{{.Name}} {{.ImportPath}}", "std", "github.com/hotcount/hotcount/...")
	if err != nil {
		return nil, err
	}
	index := map[string][]string{}
	for line := range strings.Lines(list) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		internal := slices.Contains(strings.Split(path, "/"), "internal") || strings.HasPrefix(path, "vendor/")
		if name != "main" && !internal {
			index[name] = append(index[name], path)
		}
	}
	return index, nil
})
