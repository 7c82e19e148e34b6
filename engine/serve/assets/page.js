// Pages work without this script. With it, expressions are shown as they were parsed, answers appear
// during typing, tables can be sorted, and pages of running jobs are reloaded. It builds no HTML:
// all content comes from pages of this server, which escape it.
"use strict";

const WAIT_MS = 300, AGAIN_MS = 2000;

async function load(address) {
    const response = await fetch(address, {headers: {Accept: "text/html"}});
    return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Calls `work` when typing has paused, one call at a time; only the latest request counts. If the
// server does not answer, the next request tries again.
function whenIdle(work) {
    let timer = 0, wished = false, busy = false;
    const run = async () => {
        wished = true;
        if (busy)
            return;
        busy = true;
        while (wished) {
            wished = false;
            await work().catch(() => {});
        }
        busy = false;
    };
    return () => {
        clearTimeout(timer);
        timer = setTimeout(run, WAIT_MS);
    };
}

function showReading(input) {
    const out = document.getElementById(input.dataset.reads);
    const update = async () => {
        const text = input.value.trim();
        if (!text) {
            out.replaceChildren();
            return;
        }
        const page = await load("/read?a=" + encodeURIComponent(text));
        const refused = page.querySelector(".problem");
        out.classList.toggle("refused", Boolean(refused));
        if (refused)
            out.textContent = refused.textContent.split("\n")[0].replace(/^.*error: /, "");
        else
            out.replaceChildren(...page.querySelectorAll("#answer > .formula > math, #answer > .note"));
    };
    const later = whenIdle(update);
    input.addEventListener("input", later);
    if (input.value && !document.getElementById("answer"))
        update();
}

function answerWhileTyping(form) {
    const answer = document.getElementById("answer");
    const ask = async () => {
        const fields = new URLSearchParams();
        for (const [name, value] of new FormData(form))
            if (value)
                fields.append(name, value);
        const address = form.action + "?" + fields;
        if (!form.checkValidity())
            return;
        answer.setAttribute("aria-busy", "true");
        const page = await load(address);
        answer.replaceChildren(...page.getElementById("answer").childNodes);
        document.querySelector("footer").replaceChildren(...page.querySelector("footer").childNodes);
        answer.setAttribute("aria-busy", "false");
        history.replaceState(null, "", address);
        makeSortable(answer);
    };
    const later = whenIdle(ask);
    form.addEventListener("input", later);
    form.addEventListener("submit", event => {
        event.preventDefault();
        later();
    });
}

// Screen readers announce changes of an element only if it stays the same element.
function refresh(main, fresh) {
    const status = main.querySelector(":scope > [role=status]");
    const nodes = [...fresh.childNodes], at = nodes.findIndex(node => node.role === "status");
    if (!status || at < 0) {
        main.replaceChildren(...nodes);
        return;
    }
    for (const node of [...main.childNodes])
        if (node !== status)
            node.remove();
    if (status.textContent !== nodes[at].textContent)
        status.textContent = nodes[at].textContent;
    status.before(...nodes.slice(0, at));
    status.after(...nodes.slice(at + 1));
}

// Reloads the contents while something runs, but not while an element in them has the focus.
async function reload() {
    const main = document.getElementById("main");
    try {
        const page = await load(location.href), fresh = page.getElementById("main");
        const running = "live" in fresh.dataset;
        if (page.querySelector(".problem"))
            throw new Error("not now");
        if (!running || (!main.contains(document.activeElement) && document.visibilityState === "visible")) {
            refresh(main, fresh);
            makeSortable(main);
        }
        if (running)
            setTimeout(reload, AGAIN_MS);
    } catch { // the server, or the store, is busy
        setTimeout(reload, AGAIN_MS);
    }
}

makeSortable(document);
document.querySelectorAll("[data-reads]").forEach(showReading);
document.querySelectorAll("form[data-live]").forEach(answerWhileTyping);
if ("live" in document.getElementById("main").dataset)
    setTimeout(reload, AGAIN_MS);
