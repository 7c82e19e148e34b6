// Tables of class "sorts" sort by the column whose head is pressed: numbers by size, what is none last.
"use strict";

function figure(cell) {
    const text = cell.textContent.trim().replace(/\u202f/g, "");
    const match = /^[-+]?[\d.]+(e[-+]?\d+)?/i.exec(text);
    if (!match)
        return [1, 0, text];
    const unit = {ms: 1e-3, min: 60}[text.slice(match[0].length).trim()] || 1;
    return [0, parseFloat(match[0]) * unit, text];
}

function sortBy(table, column, down) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map(row => [figure(row.cells[column]), row]);
    const sign = down ? -1 : 1;
    rows.sort(([a], [b]) => a[0] - b[0] || sign * (a[1] - b[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0)));
    body.append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((head, i) => {
        if (i === column)
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else
            head.removeAttribute("aria-sort");
    });
}

function makeSortable(root) {
    for (const table of root.querySelectorAll("table.sorts"))
        [...table.tHead.rows[0].cells].forEach((head, column) => {
            if (!head.textContent || head.querySelector("button") || table.tBodies[0].rows.length < 2)
                return;
            const button = document.createElement("button");
            button.type = "button";
            button.append(...head.childNodes);
            button.addEventListener("click", () =>
                sortBy(table, column, head.getAttribute("aria-sort") === "ascending"));
            head.append(button);
        });
}
