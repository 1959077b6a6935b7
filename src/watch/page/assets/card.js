// A card: a part of the page with a title, which can be hidden while there is nothing to show.

import { element } from "./dom.js";

export function card(parent, id, title, ...children) {
  const heading = element("h2", { text: title, id: `${id}-title` });
  const note = element("span", { class: "note" });
  const node = element("section", { class: "card", id, "aria-labelledby": `${id}-title` },
                       element("div", { class: "card-head" }, heading, note), ...children);
  parent.append(node);
  return {
    node,
    show: (visible) => { node.hidden = !visible; },
    note: (text) => { if (note.textContent !== text) note.textContent = text; },
  };
}
