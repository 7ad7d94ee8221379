// SPDX-License-Identifier: GPL-2.0-or-later
// The picture over time, drawn by uPlot: panels that zoom together. Without it, and in print, the still picture is there.
"use strict";
(() => {
	const figure = document.querySelector("figure.live");
	const data = JSON.parse(document.getElementById(`${figure.id}-data`).textContent);
	const room = document.createElement("div");
	const how = figure.querySelector(".how");
	const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	let charts = [], group = data.groups[0], zooming = false;

	const zoom = (min, max) => {
		zooming = true;
		for (const one of charts)
			one.setScale("x", { min, max });
		zooming = false;
	};
	const together = (one, key) => {
		if (key === "x" && !zooming)
			zoom(one.scales.x.min, one.scales.x.max);
	};
	// every other phase is shaded; where there is room it has its name
	const phases = (named) => (one) => {
		const { ctx, bbox } = one;
		ctx.save();
		ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
		ctx.textAlign = "center";
		group.phases.forEach(([name, begin, end], at) => {
			const left = Math.max(bbox.left, one.valToPos(begin, "x", true));
			const right = Math.min(bbox.left + bbox.width, one.valToPos(end, "x", true));
			if (right <= left)
				return;
			if (at % 2 === 0) {
				ctx.fillStyle = ink("--shade");
				ctx.fillRect(left, bbox.top, right - left, bbox.height);
			}
			ctx.fillStyle = ink("--quiet");
			if (named && ctx.measureText(name).width < right - left)
				ctx.fillText(name, (left + right) / 2, bbox.top - 5 * devicePixelRatio);
		});
		ctx.restore();
	};
	// a step lasts until the next one begins, the last until its end
	const digits = (value) => value === null || value === undefined ? "\u2013" : Number(value.toPrecision(4)).toString();
	const panel = (title, at) => {
		const lines = group.panels[at];
		if (!lines.length)
			return null;
		const series = [{ label: "seconds", value: (_, value) => digits(value) }];
		for (const line of lines)
			series.push({
				label: `${line.direction}s`, stroke: data.styles[line.direction][0], width: 1.75, dash: data.styles[line.direction][1],
				paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (_, value) => digits(value), spanGaps: false,
			});
		const axis = { stroke: ink("--ink"), grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid") } };
		const last = at === data.panels.length - 1;
		return new uPlot({
			width: room.clientWidth, height: last ? 190 : 165, series,
			cursor: { sync: { key: "raidtrace" }, drag: { x: true, y: false } },
			padding: [at ? 8 : 20, 8, 0, 0],
			scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.06] } },
			axes: [
				{ ...axis, label: last ? data.axis : undefined, labelSize: 22, size: 32 },
				{ ...axis, label: title, labelSize: 22, size: 52 },
			],
			hooks: { setScale: [together], drawClear: [phases(at === 0)] },
		}, [group.x, ...lines.map((line) => [...line.y, line.y[line.y.length - 1]])], room);
	};
	const draw = () => {
		for (const one of charts)
			one.destroy();
		charts = data.panels.map(panel).filter((one) => one);
	};
	if (data.groups.length > 1) {
		const choice = document.createElement("select");
		choice.setAttribute("aria-label", "Disk");
		choice.append(...data.groups.map((one) => new Option(one.disk)));
		choice.addEventListener("change", () => { group = data.groups[choice.selectedIndex]; draw(); });
		how.append(" ", choice);
	}
	how.hidden = false;
	how.querySelector(".all").addEventListener("click", () => zoom(group.x[0], group.x[group.x.length - 1]));
	room.className = "charts";
	figure.append(room);
	figure.classList.add("drawn");
	draw();
	new ResizeObserver(() => {
		for (const one of charts)
			if (one.width !== room.clientWidth && room.clientWidth)
				one.setSize({ width: room.clientWidth, height: one.height });
	}).observe(room);
	new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
