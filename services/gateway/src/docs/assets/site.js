// Searches the documentation in the reader's browser. Without it the pages are the same, but for the search.
const form = document.querySelector(".search");
const input = form.querySelector("input");
const panel = form.querySelector(".results");
const status = panel.querySelector("[role=status]");
const list = panel.querySelector("ol");

const RESULTS_MAX = 20;
const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 180;

let opening;

/** Fills the index when somebody first wants to search: readers who do not load nothing of it. */
function openIndex() {
  opening ??= fillIndex().catch((error) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function fillIndex() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(form.dataset.searchModule),
    fetch(form.dataset.text),
  ]);
  if (!response.ok) throw new Error(`${form.dataset.text} answers ${response.status}.`);
  const rows = await response.json();
  const index = new MiniSearch({
    fields: ["title", "heading", "text"],
    storeFields: ["path", "title", "anchor", "heading", "text"],
    searchOptions: {
      boost: { title: 2, heading: 4 },
      // More readers use the service than work on it.
      boostDocument: (_id, _term, { path }) =>
        /^(?:adr|architecture|contributing)\b/.test(path) ? 0.4 : 1,
      prefix: true,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  const documents = rows.map(([path, title, anchor, heading, text], id) => ({
    id,
    path,
    title,
    anchor,
    heading,
    text,
  }));
  await index.addAllAsync(documents, { chunkSize: 200 });
  return index;
}

async function search() {
  const query = input.value.trim();
  if (query === "") return close();
  panel.hidden = false;
  try {
    const index = await openIndex();
    // Somebody went on writing while the index was filled.
    if (query === input.value.trim()) show(index.search(query));
  } catch (error) {
    list.replaceChildren();
    status.textContent = `The search can't be used: ${error.message}`;
  }
}

function show(results) {
  status.textContent = results.length === 1 ? "1 section" : `${results.length} sections`;
  list.replaceChildren(...results.slice(0, RESULTS_MAX).map(entryOf));
}

function entryOf({ path, title, anchor, heading, text, terms }) {
  const link = document.createElement("a");
  link.href = `/docs${path === "" ? "" : `/${path}`}#${anchor}`;
  const name = document.createElement("strong");
  name.append(...marked(heading, terms));
  const page = document.createElement("span");
  if (heading !== title) page.append(title);
  const excerpt = document.createElement("span");
  excerpt.append(...marked(excerptOf(text, terms), terms));
  link.append(name, page, excerpt);
  const entry = document.createElement("li");
  entry.append(link);
  return entry;
}

/** The text around the first of the words. */
function excerptOf(text, terms) {
  const first = text.search(patternOf(terms));
  const start = Math.max(0, first - EXCERPT_BEFORE);
  const end = start + EXCERPT_LENGTH;
  return (start > 0 ? "…" : "") + text.slice(start, end) + (end < text.length ? "…" : "");
}

/** A text in parts, its words marked. */
function marked(text, terms) {
  return text.split(patternOf(terms)).map((part, at) => {
    if (at % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.append(part);
    return mark;
  });
}

function patternOf(terms) {
  const words = terms.map((term) => term.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&"));
  return new RegExp(`(${words.join("|")})`, "iu");
}

function close() {
  panel.hidden = true;
  list.replaceChildren();
  status.textContent = "";
}

/** Moves between the results, and from the first back to the field. */
function move(step) {
  const places = [input, ...list.querySelectorAll("a")];
  const at = places.indexOf(document.activeElement);
  places[Math.max(0, Math.min(places.length - 1, at + step))]?.focus();
}

form.hidden = false;
input.addEventListener("focus", () => void openIndex().catch(() => {}));
input.addEventListener("input", () => void search());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("click", (event) => {
  if (event.target.closest("a") !== null) close();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Escape") {
    close();
    input.focus();
  } else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) close();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input:not([type=radio]), textarea, select") !== null;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
  input.select();
});

// A reader of one language reads all examples in it.
document.addEventListener("change", ({ target }) => {
  if (target.closest(".variants") === null) return;
  const before = target.getBoundingClientRect().top;
  for (const choice of document.querySelectorAll(".variants input")) {
    if (choice.value === target.value) choice.checked = true;
  }
  scrollBy(0, target.getBoundingClientRect().top - before);
});
