/* SPDX-License-Identifier: Apache-2.0 */
/* How a page looks, and the little it does. */
#include "report/chart.h"

#define LIGHT                                                                                   \
    "color-scheme:light;--ink:#1b1f24;--soft:#59616b;--line:#dfe3e8;--faint:#f0f2f5;"           \
    "--rule:#9aa3ad;--paper:#f6f7f9;--card:#fff;--edge:#e1e5ea;--warn:#9a3412;--alarm:#fff4ed;" \
    "--c0:" TACIT_LIGHT_0 ";--c1:" TACIT_LIGHT_1 ";--c2:" TACIT_LIGHT_2 ";--c3:" TACIT_LIGHT_3  \
    ";--c4:" TACIT_LIGHT_4 ";--c5:" TACIT_LIGHT_5 ";--c6:" TACIT_LIGHT_6
#define DARK                                                                                       \
    "color-scheme:dark;--ink:#e6e9ec;--soft:#a7b0ba;--line:#343c45;--faint:#252b31;"               \
    "--rule:#6b7580;--paper:#111416;--card:#191d21;--edge:#2a3037;--warn:#ffb385;--alarm:#33221a;" \
    "--c0:#56b4e9;--c1:#ff8a4c;--c2:#35c79a;--c3:#e08fc0;--c4:#f0b429;--c5:#a5d8ff;--c6:#cdd3da"

/* Dark twice: for those whose system is dark, and for those who ask here. Paper is light. */
const char tacit_page_colours[] =
    ":root{" LIGHT "}@media screen and (prefers-color-scheme:dark){"
    ":root:not([data-theme=light]){" DARK "}}@media screen{:root[data-theme=dark]{" DARK "}}"
    ".c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}"
    ".c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}";

const char tacit_page_style[] = TACIT_MARK_STYLE
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);"
    "background:var(--paper);max-width:76rem;margin:0 auto;padding:1.6rem 1.2rem 3rem}"
    "header{display:flex;gap:1rem;align-items:flex-start;justify-content:space-between}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0;overflow-wrap:anywhere}"
    "h2{font-size:1.15rem;margin:2rem 0 .7rem}h3{font-size:1rem;margin:0}"
    ".sub,.note{color:var(--soft);margin:.25rem 0 0}.sub{margin-bottom:1.2rem}"
    "sup{font-size:.7em;line-height:0}.note{font-size:.82rem;line-height:1.4}p{max-width:48rem}"
    ".warn{color:var(--warn);background:var(--alarm);border-left:4px solid currentColor;"
    "border-radius:4px;padding:.6rem .9rem;margin:.6rem 0;max-width:none}"
    ".wide{overflow-x:auto;background:var(--card);border:1px solid var(--edge);"
    "border-radius:8px;padding:.3rem 1rem}table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums;font-size:.93rem}"
    "th,td{text-align:left;padding:.42rem 1.1rem .42rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top}tr:last-child>*{border-bottom:0}"
    "th{font-weight:500;color:var(--soft);white-space:nowrap}td.r{text-align:right}"
    "th.r{text-align:right}td.r{white-space:nowrap}td:first-child{font-weight:500}td "
    "b{font-weight:600}td small{color:var(--soft)}"
    ".grid{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,29rem),"
    "1fr))}figure{margin:0;background:var(--card);border:1px solid var(--edge);"
    "border-radius:8px;padding:.9rem 1rem .8rem;break-inside:avoid;display:flex;"
    "flex-direction:column}figure+figure{margin-top:0}main>figure{margin:1rem 0;max-width:46rem}"
    "figcaption{margin-bottom:.5rem}svg{display:block;width:100%;height:auto;max-height:34rem}"
    ".net .d{fill-opacity:.95}svg text{fill:var(--soft);font:12px system-ui,sans-serif}"
    ".g{stroke:var(--line)}.m{stroke:var(--faint)}.a{stroke:var(--rule)}";

const char tacit_page_details[] =
    ".legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;margin:.4rem 0 0;"
    "padding:0;font-size:.82rem}.legend li{display:flex;align-items:center;gap:.45rem}"
    ".legend span{color:var(--ink);overflow-wrap:anywhere}"
    ".legend i{flex:none;width:1.2rem;border-top:3px solid currentColor}"
    ".legend i.second{border-top-style:dashed}"
    ".legend i.dot{width:.6rem;height:.6rem;border:0;border-radius:50%;background:currentColor}"
    ".legend i.dot.second{background:none;border:2px solid currentColor}"
    ".legend i.bar{width:.7rem;height:.7rem;border:0;background:currentColor}"
    ".legend i.bar.second{opacity:.5}"
    "button.theme{font:inherit;font-size:.82rem;color:var(--soft);background:none;"
    "border:1px solid var(--line);border-radius:6px;padding:.2rem .7rem;cursor:pointer}"
    ".tip{position:fixed;z-index:9;display:none;pointer-events:none;background:var(--card);"
    "border:1px solid var(--rule);border-radius:6px;padding:.3rem .6rem;font-size:.8rem;"
    "line-height:1.45;max-width:18rem;box-shadow:0 2px 8px #0003;"
    "font-variant-numeric:tabular-nums}.tip div{display:flex;justify-content:space-between;"
    "gap:1rem}.tip span{overflow-wrap:anywhere}"
    "details{margin-top:2rem}summary{cursor:pointer;color:var(--soft)}pre{font-size:.82rem;"
    "overflow-x:auto}footer{color:var(--soft);font-size:.82rem;margin-top:2rem}"
    "@media(max-width:34rem){body{padding:1rem .7rem 2rem}figure{padding:.7rem .5rem}"
    "svg text{font-size:16px}svg{min-width:22rem}figure{overflow-x:auto}.wide{padding:.2rem "
    ".7rem}th{white-space:normal}}"
    "@media print{@page{margin:14mm}html{font-size:11px}svg text{font-size:16px}"
    "th,td{padding:.3rem .7rem .3rem 0}:root{--paper:#fff;--edge:#ccc}body{font-size:1rem;"
    "padding:0;max-width:none}.grid{grid-template-columns:1fr 1fr}"
    ".theme,.tip{display:none!important}h2{break-after:avoid}"
    "tr,.warn,figure{break-inside:avoid}.wide{overflow:visible}*{print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}}";

/* A button for the other light, and the values under the pointer, read from the drawing. */
const char tacit_page_script[] =
    "(function(){var d=document,r=d.documentElement,b=d.createElement('button'),"
    "tip=d.createElement('div');\n"
    "function dark(){var t=r.dataset.theme;return t?t=='dark':"
    "matchMedia('(prefers-color-scheme:dark)').matches}\n"
    "function name(){b.textContent=dark()?'Light':'Dark'}\n"
    "b.type='button';b.className='theme';name();"
    "b.onclick=function(){r.dataset.theme=dark()?'light':'dark';name()};"
    "d.querySelector('header').appendChild(b);tip.className='tip';d.body.appendChild(tip);\n"
    "function words(v){var a=Math.abs(v);"
    "return a&&(a<1e-3||a>=1e9)?v.toExponential(2):String(+v.toPrecision(4))}\n"
    "function value(a,p){var t=(p-a[2])/(a[3]-a[2]);return a[4]?"
    "a[0]*Math.pow(a[1]/a[0],t):a[0]+t*(a[1]-a[0])}\n"
    "function row(l,v,c){var e=d.createElement('div'),n=d.createElement('span'),"
    "w=d.createElement('b');n.textContent=l;w.textContent=v;if(c)e.className=c;"
    "e.appendChild(n);e.appendChild(w);tip.appendChild(e)}\n"
    "d.querySelectorAll('svg[data-x]').forEach(function(s){var lines=null,"
    "ax=s.dataset.x.split(' ').map(Number),ay=s.dataset.y.split(' ').map(Number),"
    "rule=d.createElementNS('http://www.w3.org/2000/svg','path');"
    "rule.setAttribute('class','a');s.appendChild(rule);\n"
    "function read(){lines=[].map.call(s.querySelectorAll('polyline.l'),function(p){"
    "var t=p.querySelector('title'),n=t.textContent;t.remove();"
    "return{name:n,css:p.parentNode.getAttribute('class'),at:p.getAttribute('points').trim()"
    ".split(' ').map(function(q){return q.split(',').map(Number)})}})}\n"
    "function near(l,x){var k=0,i;for(i=1;i<l.at.length;i++)"
    "if(Math.abs(l.at[i][0]-x)<Math.abs(l.at[k][0]-x))k=i;return l.at[k]}\n"
    "function hide(){tip.style.display='none';rule.removeAttribute('d')}\n"
    "s.addEventListener('pointermove',function(e){if(!lines)read();if(!lines.length)return;"
    "var q=s.createSVGPoint();q.x=e.clientX;q.y=e.clientY;q=q.matrixTransform("
    "s.getScreenCTM().inverse());var best=null;lines.forEach(function(l){var p=near(l,q.x);"
    "if(!best||Math.abs(p[0]-q.x)<Math.abs(best[0]-q.x))best=p});"
    "if(Math.abs(best[0]-q.x)>60)return hide();"
    "rule.setAttribute('d','M'+best[0]+' '+ay[3]+'V'+ay[2]);tip.textContent='';"
    "row(s.dataset.label,words(value(ax,best[0])));lines.forEach(function(l){var p=near(l,"
    "best[0]);if(l.name&&Math.abs(p[0]-best[0])<12)row(l.name,words(value(ay,p[1])),l.css)});"
    "tip.style.display='block';var w=tip.offsetWidth,h=tip.offsetHeight;"
    "tip.style.left=Math.max(4,e.clientX+16+w>innerWidth?e.clientX-16-w:e.clientX+16)+'px';"
    "tip.style.top=Math.max(4,Math.min(e.clientY+16,innerHeight-h-4))+'px'});\n"
    "s.addEventListener('pointerleave',hide)})})();";
