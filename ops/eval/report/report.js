// The interactive parts of the page: long tables fold, and the picture shows details of the point
// at the pointer. Without this script tables are complete, and points have titles.
const SHOWN = 25, REACH = 16;

function element(name, className, ...content) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...content);
    return made;
}

function fold(table) {
    const rows = table.tBodies[0].rows.length;
    if (rows <= SHOWN)
        return;
    const button = element("button", "fold");
    const show = folded => {
        table.classList.toggle("folded", folded);
        button.textContent = folded ? `All ${rows.toLocaleString("en").replaceAll(",", "\u202f")} rows`
                                    : `The first ${SHOWN} rows`;
        button.setAttribute("aria-expanded", String(!folded));
    };
    button.type = "button";
    button.addEventListener("click", () => show(!table.classList.contains("folded")));
    table.parentElement.after(button);
    show(true);
}

function tellPoints(figure) {
    const svg = figure.querySelector("svg"), peek = figure.querySelector(".peek");
    const formulas = figure.querySelector("template").content.children;
    const points = [...svg.querySelectorAll("use")].map((mark, i) => ({
        mark, i, group: mark.parentElement,
        x: mark.x.baseVal.value, y: mark.y.baseVal.value,
        near: mark.dataset.near.split(" ").filter(Boolean).map(pair => pair.split(":")),
    }));
    const seeds = new Map();
    for (const point of points) {
        point.mark.querySelector("title").remove();
        if (!seeds.has(point.group))
            seeds.set(point.group, point);
    }
    const groups = [...seeds.keys()];
    const formula = i => formulas[i].cloneNode(true);
    const lines = document.createElementNS(svg.namespaceURI, "g");
    lines.setAttribute("class", "ties");
    svg.append(lines);
    let at = -1;

    const describe = point => {
        const nearest = element("table", "");
        for (const [i, cosine] of point.near) {
            const other = points[i], same = other.group === point.group;
            const what = element("td", "", formula(i));
            if (!same)
                what.append(element("div", "note", "cluster of ", formula(seeds.get(other.group).i)));
            nearest.insertRow().append(element("td", "", cosine),
                                       element("td", "note", same ? "same" : "other"), what);
        }
        return [element("p", "formula", formula(point.i)),
                element("p", "note", `cluster ${groups.indexOf(point.group) + 1} of ${groups.length}: `,
                        formula(seeds.get(point.group).i)), nearest];
    };
    const tie = (point, other) => {
        const line = document.createElementNS(svg.namespaceURI, "line");
        for (const [name, value] of [["x1", point.x], ["y1", point.y], ["x2", other.x], ["y2", other.y]])
            line.setAttribute(name, value);
        return line;
    };
    const look = i => {
        if (i === at)
            return;
        points[at]?.mark.classList.remove("at");
        points[at]?.group.classList.remove("at");
        at = i;
        const point = points[i];
        svg.classList.toggle("looking", Boolean(point));
        peek.replaceChildren(...point ? describe(point) : []);
        lines.replaceChildren(...point ? point.near.map(([k]) => tie(point, points[k])) : []);
        if (!point)
            return;
        point.mark.classList.add("at");
        point.group.classList.add("at");
        const box = svg.viewBox.baseVal, left = point.x < box.width / 2, top = point.y < box.height / 2;
        const scale = svg.clientWidth / box.width;
        peek.style.left = left ? `${(point.x + 14) * scale}px` : "";
        peek.style.right = left ? "" : `${svg.clientWidth - (point.x - 14) * scale}px`;
        peek.style.top = top ? `${(point.y + 14) * scale}px` : "";
        peek.style.bottom = top ? "" : `${figure.clientHeight - (point.y - 14) * scale}px`;
    };
    const nearestTo = event => {
        const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const distance = point => Math.hypot(point.x - place.x, point.y - place.y);
        const best = points.reduce((a, b) => distance(b) < distance(a) ? b : a);
        return distance(best) < REACH ? best.i : -1;
    };
    svg.addEventListener("pointermove", event => look(nearestTo(event)));
    svg.addEventListener("pointerdown", event => look(nearestTo(event)));
    svg.addEventListener("pointerleave", event => event.pointerType === "mouse" && look(-1));
    svg.addEventListener("blur", () => look(-1));
    svg.addEventListener("keydown", event => {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (event.key === "Escape")
            look(-1);
        if (!step)
            return;
        event.preventDefault();
        look(((at < 0 && step < 0 ? 0 : at) + step + points.length) % points.length);
    });
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", svg.getAttribute("aria-label") + "; arrow keys move between expressions");
    svg.tabIndex = 0;
}

makeSortable(document);
document.querySelectorAll("table.sorts").forEach(fold);
document.querySelectorAll("figure.picture").forEach(tellPoints);
