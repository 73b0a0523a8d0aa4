package statspage

import (
	"crypto/sha256"
	"encoding/base64"
)

// style is the page's style sheet. Colours are variables, so that the dark scheme replaces nothing else.
const style = `:root{color-scheme:light dark;--bg:#fff;--fg:#1d232b;--dim:#5b6673;--line:#d5dae1;--head:#eef1f5;--link:#0b5cad;
--up:#d9f2dc;--going-down:#fdf3c2;--going-up:#ffe3a8;--down:#fbd3d0;--nolb:#cfe4fb;--none:#eceff3;--maint:#ecd3b4;
--bup:#d3e6f7;--bgoing-down:#e2d4f5;--bgoing-up:#f5d3f0;--side:#f6f7f9;--tip:#fffbe6}
@media(prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#dfe4ea;--dim:#93a0ae;--line:#39424d;--head:#222932;--link:#6db3f5;
--up:#173d20;--going-down:#4a4312;--going-up:#5b4310;--down:#5a1d1b;--nolb:#153a60;--none:#252b33;--maint:#50371a;
--bup:#173450;--bgoing-down:#382556;--bgoing-up:#4b2047;--side:#1b2027;--tip:#2b2f1c}}
*{box-sizing:border-box}body{margin:1rem;background:var(--bg);color:var(--fg);font:13px/1.4 system-ui,sans-serif}
h1{font-size:1.3rem;margin:0}h1+p{margin:.1rem 0 1rem;color:var(--dim)}h2{font-size:1.05rem;margin:1.6rem 0 .3rem}
h2 small{font-weight:400;color:var(--dim)}a{color:var(--link)}td a,h2 a{color:inherit;text-decoration:none}
.top{display:flex;flex-wrap:wrap;gap:1rem 3rem;align-items:flex-start}dl{display:grid;grid-template-columns:auto auto;gap:0 .8rem;margin:0}
dt{color:var(--dim)}dd{margin:0}ul{margin:0;padding-left:1.1rem}.key{display:grid;grid-template-columns:1.6rem auto 1.6rem auto;gap:.15rem .5rem;list-style:none;padding:0}
.key i{border:1px solid var(--line)}.scroll{overflow-x:auto;overflow-y:visible}
table.px{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:12px;min-width:100%}
.px th,.px td{border:1px solid var(--line);padding:.1rem .35rem;white-space:nowrap;text-align:right}
.px th{background:var(--head);font-weight:600;text-align:center}.px td:nth-child(-n+2),.px .m{text-align:center}
.frontend,.backend,.socket{background:var(--side)}.backend td,.frontend td{font-weight:600}.socket{color:var(--dim)}
.active_up{background:var(--up)}.active_going_down{background:var(--going-down)}.active_going_up{background:var(--going-up)}
.active_down,.backup_down{background:var(--down)}.active_draining,.backup_draining,.active_nolb,.backup_nolb{background:var(--nolb)}
.active_no_check,.backup_no_check{background:var(--none)}.maintain{background:var(--maint)}
.backup_up{background:var(--bup)}.backup_going_down{background:var(--bgoing-down)}.backup_going_up{background:var(--bgoing-up)}
.t{display:inline-block;position:relative;border-bottom:1px dotted;cursor:help}.tip{display:none;position:absolute;z-index:9;top:100%;right:0;
background:var(--tip);color:var(--fg);border:1px solid var(--line);border-radius:4px;padding:.3rem .5rem;text-align:left;font-weight:400;box-shadow:0 2px 8px #0004}
td:nth-child(2) .tip,h2 .tip{right:auto;left:0}.t:hover>.tip,.t:focus>.tip{display:block}.tip th,.tip td{border:0;background:none;padding:0 .3rem;font-weight:400;text-align:right}
.tip th{text-align:left;color:var(--dim)}.msg{padding:.5rem .8rem;border-radius:4px;border:1px solid var(--line)}
.good{background:var(--up)}.note{background:var(--going-down)}.bad{background:var(--down)}.act{margin:.4rem 0}
`

// policy is what browsers may do with the page: its own style sheet, its own forms, and nothing else.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}()
