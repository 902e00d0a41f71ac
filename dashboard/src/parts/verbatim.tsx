// How texts that an agent has written are shown to people who decide about them. Characters that hide or mislead are shown by
// their numbers, and nothing of a text is markup.

import { createElement, Fragment, type ReactNode } from 'react'

const WORDS = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu
// What shows nothing, turns the direction of what follows, or strikes through what stands before it.
const HIDING =
  '\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cf}\\p{Cn}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Me}' +
  '\\u0334-\\u0338\\u20d2\\u20d3\\u20d8-\\u20da\\u20e5\\u20e6\\u20ea\\u20eb\\u2800'
// Scripts with letters that look like Latin ones.
const ALIKE = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu']
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const LATIN = /\p{Script=Latin}/u
const LOOKALIKE = new RegExp(`[${ALIKE}]`, 'u')
// What is marked in a word whose letters are of several scripts, and in one whose accents stand apart.
const MARKED = ['', ALIKE, '\\p{Mn}', `${ALIKE}\\p{Mn}`].map((more) => new RegExp(`([${HIDING}${more}])`, 'u'))

const ISOLATED = { unicodeBidi: 'isolate', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/**
 * The treatment of a letter depends on its word: a letter of another script among Latin ones imitates them, and a separate
 * accent makes another text that looks the same.
 */
export function Verbatim({ text }: { text: string }) {
  const shown: ReactNode[] = []
  for (const [word] of text.matchAll(WORDS)) {
    const isMixed = LATIN.test(word) && LOOKALIKE.test(word)
    const isApart = word !== word.normalize('NFC')
    const parts = word.split(MARKED[Number(isMixed) + 2 * Number(isApart)] ?? '')
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) shown.push(part)
      else shown.push(createElement('mark', {}, markOf(part)), part === '\n' ? '\n' : '')
    }
  }
  return <span style={ISOLATED}>{createElement(Fragment, {}, ...shown)}</span>
}

function markOf(character: string): string {
  const number = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  if (character === '\n') return '↵'
  return LOOKALIKE.test(character) ? `${character} (${number})` : number
}

/** Any JSON value as a tree of lists. Names are quoted: a name can look like the number of an element, or end with a space. */
export function Tree({ value }: { value: unknown }) {
  if (typeof value !== 'object' || value === null) {
    return (
      <code>
        <Verbatim text={typeof value === 'string' ? JSON.stringify(value) : String(value)} />
      </code>
    )
  }
  const members = Object.entries(value)
  if (members.length === 0) return <code>{Array.isArray(value) ? '[]' : '{}'}</code>
  return (
    <ul style={{ margin: 0, paddingInlineStart: '1.1em' }}>
      {members.map(([name, member]) => (
        <li key={name}>
          <b>
            <Verbatim text={Array.isArray(value) ? `${Number(name) + 1}.` : JSON.stringify(name)} />
          </b>{' '}
          <Tree value={member} />
        </li>
      ))}
    </ul>
  )
}
