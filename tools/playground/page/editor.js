/** The editor of the program: CodeMirror with Python, and the problems as squiggles. */

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

const SEVERITIES = { 1: "error", 2: "warning", 3: "info", 4: "hint" };

export class Editor {
  #view;

  /**
   * @param {HTMLElement} parent
   * @param {{ program: string, onChange: (program: string) => void, onRun: () => void }} options
   */
  constructor(parent, { program, onChange, onRun }) {
    const runKey = { key: "Mod-Enter", run: () => (onRun(), true) };
    this.#view = new EditorView({
      parent,
      doc: program,
      extensions: [
        Prec.highest(keymap.of([runKey])),
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        python(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        syntaxHighlighting(classHighlighter),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
        EditorView.contentAttributes.of({
          "aria-labelledby": "program-title",
          "aria-describedby": "editor-help",
          // Not every tool knows that editable content takes the focus.
          tabindex: "0",
        }),
        EditorView.updateListener.of((update) => {
          const isOurs = update.transactions.some((transaction) => transaction.isUserEvent("load"));
          if (update.docChanged && !isOurs) onChange(this.program);
        }),
      ],
    });
  }

  get program() {
    return this.#view.state.doc.toString();
  }

  /** Replace the program; it can be undone. */
  load(program) {
    const { state } = this.#view;
    this.#view.dispatch({
      changes: { from: 0, to: state.doc.length, insert: program },
      selection: { anchor: 0 },
      scrollIntoView: true,
      userEvent: "load",
    });
  }

  /** Underline problems of the language server protocol. */
  show(problems) {
    const { state } = this.#view;
    const marks = problems.map(({ range, severity, message }) => {
      const from = this.#offset(range.start);
      return { from, to: Math.max(from, this.#offset(range.end)), severity: SEVERITIES[severity], message };
    });
    this.#view.dispatch(setDiagnostics(state, marks));
  }

  /** Move the cursor to a place, and the focus with it. */
  goTo(place) {
    const anchor = this.#offset(place);
    this.#view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.#view.focus();
  }

  focus() {
    this.#view.focus();
  }

  #offset({ line, character }) {
    const { doc } = this.#view.state;
    const { from, to } = doc.line(Math.min(line + 1, doc.lines));
    return Math.min(from + character, to);
  }
}
