import { openConsole } from "./console/main.js";

const root = document.querySelector("[data-console]");
if (root) openConsole(root);
