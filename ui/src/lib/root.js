// The path of the archive's base, "" for none: the scripts are served from its folder assets.

export const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
