package cli

import "strings"

// splitLine cuts a line into commands at semicolons, and those into words at
// blanks. A backslash takes the special meaning off what follows it; there are
// no quotes. Empty commands are kept: each has an answer.
func splitLine(line string) (cmds [][]string) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
	)
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			inWord = true
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case c == ';':
			end()
			cmds, words = append(cmds, words), nil
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	end()
	return append(cmds, words)
}

// maxMark is how long the mark after "<<" may be, in bytes.
const maxMark = 64

// payloadMark tells whether a payload follows a line: its last word is "<<" or "<<MARK". It returns the line without that
// word and the line that ends the payload, empty without a mark.
func payloadMark(line string) (command, mark string, ok bool) {
	trimmed := strings.TrimRight(line, " \t\r")
	at := strings.LastIndexAny(trimmed, " \t") + 1
	last := trimmed[at:]
	if !strings.HasPrefix(last, "<<") || len(last) > len("<<")+maxMark || strings.Contains(last, ";") {
		return line, "", false
	}
	return trimmed[:at], last[2:], true
}
