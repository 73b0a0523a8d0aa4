// Package all contains one import line for each package that registers
// keywords or capabilities: it is what this binary contains.
package all

import (
	_ "weir/internal/feat/prometheus"
	_ "weir/internal/kw"
	_ "weir/internal/kw/act"
	_ "weir/internal/kw/balance"
	_ "weir/internal/kw/bind"
	_ "weir/internal/kw/cliadmin"
	_ "weir/internal/kw/climisc"
	_ "weir/internal/kw/clipat"
	_ "weir/internal/kw/clistat"
	_ "weir/internal/kw/conv"
	_ "weir/internal/kw/convdata"
	_ "weir/internal/kw/errors"
	_ "weir/internal/kw/fetchbuf"
	_ "weir/internal/kw/fetchcore"
	_ "weir/internal/kw/fetchhttp"
	_ "weir/internal/kw/fetchssl"
	_ "weir/internal/kw/global"
	_ "weir/internal/kw/logkw"
	_ "weir/internal/kw/mapconv"
	_ "weir/internal/kw/proxy"
	_ "weir/internal/kw/rules"
	_ "weir/internal/kw/server"
	_ "weir/internal/kw/statskw"
	_ "weir/internal/kw/tlskw"
	_ "weir/internal/kw/vars"
)
