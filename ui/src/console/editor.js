// The query editor: CodeMirror 6 in a shadow root, where a strict policy allows its own style sheets.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { sparql } from "codemirror-lang-sparql";
import { completions } from "./complete.js";

// Colours are custom properties of the page, which apply in the shadow root too, in the light and the dark theme.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool], color: "var(--bad)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.variableName, tags.special(tags.variableName)], color: "var(--ink)", fontWeight: "600" },
  { tag: [tags.namespace, tags.url, tags.atom, tags.propertyName, tags.typeName], color: "color-mix(in srgb, var(--accent) 55%, var(--ink))" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "14.5px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--mono)", padding: "10px 0", caretColor: "var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--soft) 40%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-matchingBracket": { backgroundColor: "var(--soft)", outline: "1px solid var(--accent)" },
  ".cm-fault": { textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px", backgroundColor: "var(--bad-soft)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--strong)", borderRadius: "6px", color: "var(--ink)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--soft)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-completionLabel": { fontFamily: "var(--mono)", fontSize: "13px" },
});

// The part of the text that an error is about, until the text there changes.
const setFault = StateEffect.define();
const faults = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setFault)) continue;
      const fault = effect.value;
      marks = fault ? Decoration.set(Decoration.mark({ class: "cm-fault", attributes: { title: fault.message } }).range(fault.from, fault.to)) : Decoration.none;
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Puts an editor into host; onChange(text) after each edit, onRun on Ctrl-Enter. */
export function makeEditor(host, { text, onChange, onRun, words }) {
  const root = host.attachShadow({ mode: "open" });
  const box = document.createElement("div");
  box.style.height = "100%";
  root.append(box);
  const extensions = [
    lineNumbers(),
    faults,
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    sparql(),
    autocompletion({ override: [completions(words)], icons: false }),
    syntaxHighlighting(colours),
    look,
    placeholder("SELECT …"),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "SPARQL query. Control and Enter run it." }),
    keymap.of([
      { key: "Mod-Enter", run: () => (onRun(), true) },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
  const state = (doc) => EditorState.create({ doc, extensions });
  const view = new EditorView({ state: state(text), parent: box, root });
  return {
    text: () => view.state.doc.toString(),
    /** Another text with a history of its own. */
    open: (doc) => view.setState(state(doc)),
    /** Another text as an edit that can be undone. */
    replace: (doc) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: doc } }),
    focus: () => view.focus(),
    /** Marks an error at line and column (from 1); null takes the mark away. */
    mark(error) {
      let fault = null;
      if (error?.line >= 1 && error.line <= view.state.doc.lines) {
        const line = view.state.doc.line(error.line);
        // At the end of a line there is nothing to mark but the character before.
        const from = Math.max(Math.min(line.from + Math.max((error.col || 1) - 1, 0), line.to - 1), line.from);
        const word = /^[\w:?$<>"'.-]+/.exec(view.state.doc.sliceString(from, line.to));
        const to = Math.min(from + Math.max(word ? word[0].length : 1, 1), line.to);
        view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
        if (to > from) fault = { from, to, message: error.message };
      }
      view.dispatch({ effects: setFault.of(fault) });
    },
  };
}
