"""The style of the page: dark and light, phone and print, without anything from elsewhere."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2733;--soft:#52616f;--line:#d5dce3;
--box:#f3f6f9;--in:#0072b2;--out:#b84a00;--best:#111820;--any:#8a5a9e;--good:#0a6b3d;--bad:#a3231f;--fair:#7a5200;
--good-box:#e3f4ea;--bad-box:#fbe6e5;--fair-box:#fdf1d8}
@media(prefers-color-scheme:dark){:root{--paper:#12181f;--ink:#e4eaf0;--soft:#a3b1bf;--line:#33404d;
--box:#1b242e;--in:#63b5ec;--out:#f0975a;--best:#fff;--any:#c79be0;--good:#6fd6a0;--bad:#ff9a92;
--fair:#f0c266;--good-box:#143524;--bad-box:#421c1b;--fair-box:#3a2c10}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
main,header,footer{max-width:68rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;margin:1.2rem 0 .2rem}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
p{margin:.5rem 0;max-width:60rem}
a{color:var(--in)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem .9rem;padding:0;margin:.4rem 0}
nav li{padding:.15rem 0}
.verdict{font-size:1.12rem;padding:.8rem 1rem;border-left:6px solid;border-radius:4px}
.verdict.good{background:var(--good-box)}.verdict.bad{background:var(--bad-box)}
.verdict.fair{background:var(--fair-box)}
.good{color:var(--good)}.bad{color:var(--bad)}.fair{color:var(--fair)}
.verdict{color:var(--ink)}.verdict.good{border-color:var(--good)}
.verdict.bad{border-color:var(--bad)}.verdict.fair{border-color:var(--fair)}
span.good,span.bad,span.fair{font-weight:600}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.3rem 1.2rem;
margin:.8rem 0}
dt{color:var(--soft);font-size:.85rem}dd{margin:0}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem;width:max-content}
th,td{text-align:left;padding:.3rem .7rem .3rem 0;border-bottom:1px solid var(--line);
vertical-align:top;unicode-bidi:isolate;overflow-wrap:break-word;max-width:min(26rem,58vw)}
th{color:var(--soft);font-weight:600}
.number{font-variant-numeric:tabular-nums;overflow-wrap:normal}
.beside{color:var(--soft);font-size:.85em;white-space:nowrap}
figure{margin:.6rem 0}figcaption{color:var(--soft);font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));
gap:1rem 1.6rem}
.charts svg:not(.sign){width:100%;height:auto;max-width:44rem;display:block}
svg text{font:12px system-ui,sans-serif;fill:var(--soft);unicode-bidi:isolate}
.axis,.grid,.line{fill:none;stroke:var(--line)}.axis{stroke:var(--soft)}.grid{stroke-width:.6}
.line{stroke-width:1.8}.dots{fill:none;stroke-width:5;stroke-linecap:round;opacity:.75}
.span{fill:none;stroke-width:9}
.many{stroke-width:2.4;opacity:.6}
.inside{stroke:var(--in)}.outside{stroke:var(--out)}.partial{stroke:var(--line)}
.best{stroke:var(--best)}.any{stroke:var(--any);stroke-dasharray:5 4}.failed{stroke:var(--bad)}
.rule{stroke:var(--bad);stroke-dasharray:6 3;stroke-width:1.4}
.s0{stroke:var(--in)}.s1{stroke:var(--out);stroke-dasharray:7 3}
.s2{stroke:var(--good);stroke-dasharray:2 3}
.s3{stroke:var(--any);stroke-dasharray:10 3 2 3}
.s4{stroke:var(--fair);stroke-dasharray:4 2}.s5{stroke:var(--bad);stroke-dasharray:1 2}
.chosen{stroke:var(--best);stroke-width:10}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;padding:0;margin:.3rem 0;
font-size:.9rem;color:var(--soft)}
.sign{width:16px;height:12px;margin-right:.35rem}
.bar{display:inline-block;width:7rem;height:.7rem;background:var(--box);vertical-align:middle}
.bar span{display:block;height:100%;background:var(--in)}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--in);padding:.2rem 0}
pre{background:var(--box);padding:.7rem .9rem;border-radius:4px;overflow-x:auto;font-size:.85rem;
white-space:pre-wrap;unicode-bidi:isolate}
code{font-size:.88em}
.flow{display:flex;flex-wrap:wrap;align-items:center;gap:.35rem;margin:.4rem 0}
.step{background:var(--box);border:1px solid var(--in);border-radius:6px;padding:.2rem .6rem;
font-family:ui-monospace,monospace;font-size:.9rem}
.branches{border:1px dashed var(--soft);border-radius:8px;padding:.3rem .6rem}
.kind,.end,.arrow{color:var(--soft);font-size:.9rem}.kind{font-style:italic}
footer{color:var(--soft);font-size:.85rem;margin:2.5rem auto 2rem}
:focus-visible{outline:2px solid var(--in);outline-offset:2px}
@media(min-width:64rem){table{width:auto}}
@media print{:root{color-scheme:light}nav,details:not([open]){display:none}
h2,h3{break-after:avoid}section:has(>.charts){break-inside:avoid}
figure,tr,.verdict{break-inside:avoid}.legend{break-after:avoid}body{font-size:11pt}
.scroll{overflow:visible}table{width:auto;max-width:100%}
.bar,.bar span,.verdict{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
