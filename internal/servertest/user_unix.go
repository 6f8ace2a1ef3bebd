//go:build unix

package servertest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// unprivileged returns what makes a program run as the user postgres, nil where
// the test does not run as root.
func unprivileged(t testing.TB) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		Absent(t, "user postgres", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// own gives a file to the server's user.
func (s *Server) own(path string) {
	s.t.Helper()
	if s.as != nil {
		s.must(os.Chown(path, int(s.as.Credential.Uid), int(s.as.Credential.Gid)))
	}
}
