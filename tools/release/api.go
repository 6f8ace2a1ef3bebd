package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// api records the exported names of each released package in the directory api. With
// diff it changes nothing, and an error says what it would.
func api(t *tree, diff bool) error {
	wanted, err := t.apis()
	if err != nil {
		return err
	}
	err = filepath.WalkDir(filepath.Join(t.top, "api"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || wanted[name] != nil:
			return err
		case diff:
			return fmt.Errorf("%s: there is no such package; run it without -diff", name)
		}
		return os.Remove(name)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if diff {
		return t.compare(wanted)
	}
	for name := range wanted {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
	}
	return write(wanted)
}

// apis returns what the files in the directory api have to be, by name.
func (t *tree) apis() (map[string][]byte, error) {
	wanted := make(map[string][]byte)
	for _, m := range t.modules {
		if !m.released() {
			continue
		}
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
			Dir:  filepath.Dir(m.file),
			// One platform, so that the text does not depend on where it is made.
			Env: append(os.Environ(), "GOWORK="+filepath.Join(t.top, "go.work"), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			return nil, err
		}
		for _, p := range loaded {
			if len(p.Errors) > 0 {
				return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
			}
			if p.Name == "main" || slices.Contains(strings.Split(p.PkgPath, "/"), "internal") {
				continue
			}
			wanted[filepath.Join(t.top, "api", filepath.FromSlash(t.short(p.PkgPath))+".txt")] = exported(p.Types)
		}
	}
	return wanted, nil
}

// short returns the path of a package from the root module on, or the name of that.
func (t *tree) short(path string) string {
	for _, m := range t.modules {
		if rest, ok := strings.CutPrefix(path, m.path+"/"); ok && m.dir == "." {
			return rest
		}
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// exported returns a line for each exported name of a package, sorted: constants with
// their values, functions, types with fields and methods, variables.
func exported(p *types.Package) []byte {
	l := lines{pkg: p}
	for _, name := range p.Scope().Names() {
		if !ast.IsExported(name) {
			continue
		}
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Const:
			l.add("const %s %s = %s", name, l.typ(o.Type()), o.Val())
		case *types.TypeName:
			l.addType(o)
		default:
			l.add("%s", types.ObjectString(o, l.qualify))
		}
	}
	slices.Sort(l.text)
	return []byte(strings.Join(l.text, "\n") + "\n")
}

// lines gathers the lines of one package.
type lines struct {
	pkg  *types.Package
	text []string
}

func (l *lines) add(format string, args ...any) {
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

// qualify names other packages as code does.
func (l *lines) qualify(p *types.Package) string {
	if p == l.pkg {
		return ""
	}
	return p.Name()
}

func (l *lines) typ(t types.Type) string { return types.TypeString(t, l.qualify) }

func (l *lines) signature(f types.Object) string { return strings.TrimPrefix(l.typ(f.Type()), "func") }

func (l *lines) addType(o *types.TypeName) {
	if o.IsAlias() {
		l.add("%s", types.ObjectString(o, l.qualify))
		return
	}
	name := l.typ(o.Type())
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		kind := "struct"
		if types.Comparable(u) { // which users come to rely on
			kind = "struct, comparable"
		}
		l.add("type %s %s", name, kind)
		for f := range u.Fields() {
			if f.Exported() {
				l.add("type %s struct, %s %s", name, f.Name(), l.typ(f.Type()))
			}
		}
	case *types.Interface:
		l.add("type %s interface, %d methods", name, u.NumMethods())
		for m := range u.Methods() {
			if m.Exported() {
				l.add("type %s interface, %s%s", name, m.Name(), l.signature(m))
			}
		}
		return
	default:
		l.add("type %s %s", name, l.typ(u))
	}
	l.addMethods(o)
}

// addMethods adds the methods of a type and of what it embeds. Those that a value
// has, not only a pointer, have a value as their receiver.
func (l *lines) addMethods(o *types.TypeName) {
	values := types.NewMethodSet(o.Type())
	for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
		if !m.Obj().Exported() {
			continue
		}
		receiver := "*" + o.Name()
		if values.Lookup(o.Pkg(), m.Obj().Name()) != nil {
			receiver = o.Name()
		}
		l.add("method (%s) %s%s", receiver, m.Obj().Name(), l.signature(m.Obj()))
	}
}
