// Package evalcmd is "weir eval": it evaluates a sample expression or a log
// format against a request, a response and variables given on the command
// line, and tells what came out, step by step when asked to. Nothing is
// listened on and nobody is connected to.
package evalcmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"weir/internal/base/diag"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Exit codes of weir eval.
const (
	exitValue   = 0
	exitError   = 1
	exitNoValue = 2
)

// Command is what weir eval needs from its surroundings.
type Command struct {
	// Load reads configurations for -f.
	Load func(o config.Options) (*model.Config, *diag.List)
	// ReadFile reads the file of "--body @FILE".
	ReadFile func(name string) ([]byte, error)
	// Environ is the environment, "NAME=value".
	Environ []string
}

// Main carries out "weir eval" with the words after it and returns the exit code.
func (c *Command) Main(words []string, stdout, stderr io.Writer) int {
	o, err := parse(words)
	if errors.Is(err, errHelp) {
		_, _ = io.WriteString(stdout, usage)
		return exitValue
	}
	code := exitError
	if err == nil {
		code, err = c.run(o, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintf(stderr, "weir eval: %v\n", err)
		return exitError
	}
	return code
}

// run evaluates and prints.
func (c *Command) run(o *options, stdout, stderr io.Writer) (int, error) {
	cfg, err := c.load(o.files, stderr)
	if err != nil {
		return exitError, err
	}
	b := &bench{o: o, cfg: cfg, readFile: c.ReadFile}
	if b.readFile == nil {
		b.readFile = os.ReadFile
	}
	if err := b.prepare(); err != nil {
		return exitError, err
	}
	if o.format {
		return b.format(stdout)
	}
	return b.expression(stdout)
}

// load reads the configurations, if any, and prints what is wrong with them.
func (c *Command) load(files []string, stderr io.Writer) (*model.Config, error) {
	if len(files) == 0 {
		return nil, nil
	}
	cfg, list := c.Load(config.Options{Files: files, Environ: c.Environ})
	if cfg == nil {
		fmt.Fprintln(stderr, list)
		return nil, errors.New("the configuration is refused")
	}
	return cfg, nil
}

// expression evaluates the text as a sample expression.
func (b *bench) expression(w io.Writer) (int, error) {
	e, err := sample.Parse(b.scope, b.o.text)
	if err != nil {
		return exitError, err
	}
	var v model.Value
	var ok bool
	if b.o.steps {
		steps := stepWriter{w: w}
		ok = e.Traced(b.tx, &v, steps.step)
		steps.flush()
	} else {
		ok = e.Eval(b.tx, &v)
	}
	if !ok {
		if !b.o.raw {
			fmt.Fprintln(w, "no value")
		}
		return exitNoValue, nil
	}
	if b.o.raw {
		fmt.Fprintf(w, "%s\n", sample.AppendText(nil, &v))
	} else {
		fmt.Fprintln(w, show(&v))
	}
	return exitValue, nil
}
