// Package all contains one import line for each package that registers
// keywords or capabilities: it is what this binary contains.
package all

import (
	_ "weir/internal/kw"
	_ "weir/internal/kw/bind"
	_ "weir/internal/kw/errors"
	_ "weir/internal/kw/global"
	_ "weir/internal/kw/logkw"
	_ "weir/internal/kw/proxy"
	_ "weir/internal/kw/server"
)
