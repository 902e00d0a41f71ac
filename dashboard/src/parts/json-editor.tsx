// An editor of JSON with findings in its margin. Only pages that import it load CodeMirror.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'

export interface JsonFinding {
  /** Where (RFC 6901). */
  pointer: string
  text: string
}

interface JsonEditorProps {
  label: string
  value: string
  onChange(value: string): void
  findings: readonly JsonFinding[]
  isReadOnly?: boolean
}

const findErrors = jsonParseLinter()
const THEME = EditorView.theme({
  '&': {
    fontSize: '0.8125rem',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)' },
  '.cm-gutters': {
    backgroundColor: 'var(--mantine-color-default-hover)',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
  },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-tooltip': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)' },
})

export function JsonEditor({ label, value, onChange, findings, isReadOnly = false }: JsonEditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  // The editor lives as long as its box: what it calls is what the last render gave.
  const latest = useRef({ onChange, value })
  latest.current = { onChange, value }

  useEffect(() => {
    if (box.current === null) return
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
    const made = new EditorView({
      parent: box.current,
      doc: latest.current.value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorState.readOnly.of(isReadOnly),
        lineNumbers(),
        history(),
        bracketMatching(),
        json(),
        lintGutter(),
        // Tab leaves the editor, as in every other field.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onChange(update.state.doc.toString())
        }),
        THEME,
      ],
    })
    view.current = made
    return () => made.destroy()
  }, [label, isReadOnly])

  useEffect(() => {
    const shown = view.current
    if (shown === undefined) return
    const { doc } = shown.state
    if (doc.toString() !== value) shown.dispatch({ changes: { from: 0, to: doc.length, insert: value } })
    // Findings come from the service, whenever it answers: a linter would ask for them once, soon after a change of the text.
    const diagnostics = [...findErrors(shown), ...findings.map((finding) => toDiagnostic(shown, finding))]
    shown.dispatch(setDiagnostics(shown.state, diagnostics))
  }, [value, findings])

  return <div ref={box} />
}

function toDiagnostic({ state }: EditorView, { pointer, text }: JsonFinding): Diagnostic {
  const [from, to] = placeOf(state.doc.toString(), pointer)
  return { from, to, severity: 'error', message: text }
}

/** Where the member of a pointer stands; the first line where there is none. */
export function placeOf(text: string, pointer: string): [from: number, to: number] {
  let from = 0
  let to = Math.max(text.indexOf('\n'), 0)
  for (const part of pointer.split('/').slice(1)) {
    const name = JSON.stringify(part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const found = text.indexOf(name, from)
    if (found === -1) continue
    from = found
    to = found + name.length
  }
  return [from, to]
}
