package sandbox

import (
	"fmt"
	"os"
	"strconv"
)

// WritePID writes the number of this process to a file, on a line of its own.
// The file is made with the permissions that the umask leaves of 0644.
func WritePID(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("cannot create the pid file %s: %w", path, bare(err))
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("cannot write the pid file %s: %w", path, bare(err))
	}
	return nil
}
