// What scripts add to every page: a basket, sortable tables, copy buttons, the size of a zip before its download, and
// a crawl page that refreshes itself. Pages work without it.

import { basket } from "./page/basket.js";
import { copyButtons } from "./page/copy.js";
import { live } from "./page/live.js";
import { sortable } from "./page/sortable.js";
import { zipButtons } from "./page/zip.js";
import { searchKey } from "./page/keys.js";

function enhance(root) {
  copyButtons(root);
  sortable(root);
  zipButtons(root);
  basket(root);
}

enhance(document);
searchKey();
live(enhance);
