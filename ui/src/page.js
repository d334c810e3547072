// What every page gains from a script: a basket, tables that sort, commands that copy, zips that say their size first,
// a crawl page that renews itself. Without it all of them still read.

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
