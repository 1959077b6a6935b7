// Making and filling elements. Texts are set as text, never as HTML: names of runs and hosts come from files.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, css] of Object.entries(value)) made.style.setProperty(key, css);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

// Replaces the text only where it differs, so that selections and readers are not disturbed.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
