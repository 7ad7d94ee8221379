// SPDX-License-Identifier: GPL-2.0-or-later
// Tables that sort by a click or a key on a heading, and a switch between light and dark. The page says all without it.
"use strict";
(() => {
	const value = (row, at) => {
		const cell = row.cells[at];
		return cell.dataset.key === undefined ? null : Number(cell.dataset.key);
	};
	// what is not available stays at the end, whichever the order
	const order = (at, numeric, sign) => (a, b) => {
		if (!numeric)
			return sign * a.cells[at].textContent.localeCompare(b.cells[at].textContent, "en", { numeric: true });
		const x = value(a, at), y = value(b, at);
		if (x === null || y === null)
			return (x === null) - (y === null);
		return sign * (x - y);
	};
	const sort = (table, heading, at) => {
		const down = heading.getAttribute("aria-sort") === "ascending";
		for (const other of heading.parentNode.cells)
			other.setAttribute("aria-sort", "none");
		heading.setAttribute("aria-sort", down ? "descending" : "ascending");
		const body = table.tBodies[0];
		const rows = Array.from(body.rows);
		rows.sort(order(at, heading.classList.contains("number"), down ? -1 : 1));
		body.append(...rows);
	};
	for (const table of document.querySelectorAll("table.sortable")) {
		if (table.tBodies[0].rows.length < 2)
			continue;
		Array.from(table.tHead.rows[0].cells).forEach((heading, at) => {
			const button = document.createElement("button");
			button.type = "button";
			button.append(...heading.childNodes);
			heading.append(button);
			heading.setAttribute("aria-sort", "none");
			button.addEventListener("click", () => sort(table, heading, at));
		});
	}
	// what is folded is on paper, too, and a link into it unfolds it
	const folded = () => document.querySelectorAll("details.links:not([open])");
	let unfolded = [];
	addEventListener("beforeprint", () => { unfolded = Array.from(folded()); unfolded.forEach((one) => { one.open = true; }); });
	addEventListener("afterprint", () => unfolded.forEach((one) => { one.open = false; }));
	const theme = document.getElementById("theme");
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const now = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
	const say = () => { theme.textContent = now() === "dark" ? "Light page" : "Dark page"; };
	theme.hidden = false;
	theme.addEventListener("click", () => {
		document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
		say();
	});
	dark.addEventListener("change", say);
	say();
})();
