// Light or dark: what was chosen here before, else what the system prefers. Runs before the page is drawn.
"use strict";
(() => {
  const stored = (() => {
    try {
      return localStorage.getItem("trireme-theme");
    } catch {
      return null;
    }
  })();
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event("theme"));
  };
  show(stored || (prefersDark.matches ? "dark" : "light"));
  prefersDark.addEventListener("change", () => {
    if (!chosen) show(prefersDark.matches ? "dark" : "light");
  });
  let chosen = stored;
  window.switchTheme = () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("trireme-theme", chosen);
    } catch {
      // without storage the choice lasts as long as the page
    }
    show(chosen);
  };
})();
